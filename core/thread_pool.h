#pragma once

#include <functional>
#include <memory>

namespace lagtape {

/// A fixed set of threads. `run` must be called from one thread at a time and not from within its own work;
/// otherwise it throws Error. A process forked from this one may use and destroy its copy, which starts its own
/// threads.
class ThreadPool {
 public:
  /// `threads` >= 1 counts the calling thread too. Throws InputError otherwise.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls work(item, worker) for item = 0..items-1, each once, on any free worker (0..threads-1); returns when
  /// all are done. Rethrows the exception of the lowest item that threw. During the work, every worker flushes
  /// subnormal numbers to zero and rounds to nearest; the caller's floating-point mode is restored.
  void run(int items, const std::function<void(int item, int worker)>& work);

  static int hardware_threads();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives, this thread flushes subnormal numbers to zero (they cost up to 20 x) and rounds to nearest;
/// the previous mode is then restored.
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
};

}  // namespace lagtape
