#pragma once

#include <cstdint>

namespace lagtape::test {

/// The forbidden calls of a piece of work in a real-time thread.
struct Blocking {
  std::int64_t allocations = 0;   ///< calls of malloc and its kin, and of free
  std::int64_t locks = 0;         ///< of mutexes, read-write locks, conditions and semaphores of pthreads
  std::int64_t system_calls = 0;  ///< 1 where there was one: it ends the work
  std::int64_t last_system_call = -1;

  bool none() const { return allocations == 0 && locks == 0 && system_calls == 0; }
};

/// Whether the kernel lets a process watch its own system calls (seccomp filters).
bool can_watch_system_calls();

/// Runs `prepare` and then `work` in a separate process and counts what `work` does. Throws Error where that process
/// ends in another way than by the end of the work or by a system call.
using Work = void (*)(void* context);
Blocking watched(Work prepare, Work work, void* context);

}  // namespace lagtape::test
