#pragma once

#include <functional>
#include <memory>

namespace lagtape {

/// A fixed set of threads. `run` must be called from one thread at a time and not from its own work; Error
/// otherwise. A process forked from this one may use and destroy its copy, which starts its own threads.
class ThreadPool {
 public:
  /// `threads` >= 1 counts the calling thread too. Throws InputError otherwise.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls work(item, worker) for item = 0..items-1, each once, on whatever worker (0..threads-1) is free;
  /// returns when all are done. Rethrows the exception of the lowest item that threw. In every worker, for
  /// the time of the work, subnormal numbers are flushed to zero and results rounded to nearest; the caller's
  /// floating-point mode is restored.
  void run(int items, const std::function<void(int item, int worker)>& work);

  static int hardware_threads();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives, this thread flushes subnormal numbers to zero (they cost up to 20 x) and rounds to nearest; the mode
/// before is restored.
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
