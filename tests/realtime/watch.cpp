#include "lagtape/tests/realtime/watch.h"

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "lagtape/core/error.h"

// The functions of the C library that are watched are defined here once more, so that the linker takes these.

namespace {

std::atomic<bool> watching = false;
std::atomic<std::int64_t> allocations = 0, locks = 0;
lagtape::test::Blocking* shared = nullptr;  // with the process that waits

void count(std::atomic<std::int64_t>& calls) {
  if (watching.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
}

template <class F>
F original(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
  count(allocations);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count(allocations);
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  count(allocations);
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count(allocations);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(allocations);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count(allocations);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  count(allocations);
  __libc_free(memory);
}

// A function of one argument that locks or waits.
#define LAGTAPE_WATCH(name, type)                             \
  int name(type* object) {                                    \
    static const auto next = original<int (*)(type*)>(#name); \
    count(locks);                                             \
    return next(object);                                      \
  }
LAGTAPE_WATCH(pthread_mutex_lock, pthread_mutex_t)
LAGTAPE_WATCH(pthread_mutex_trylock, pthread_mutex_t)
LAGTAPE_WATCH(pthread_rwlock_rdlock, pthread_rwlock_t)
LAGTAPE_WATCH(pthread_rwlock_wrlock, pthread_rwlock_t)
LAGTAPE_WATCH(pthread_cond_signal, pthread_cond_t)
LAGTAPE_WATCH(pthread_cond_broadcast, pthread_cond_t)
LAGTAPE_WATCH(sem_wait, sem_t)
LAGTAPE_WATCH(sem_post, sem_t)
#undef LAGTAPE_WATCH
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto next = original<int (*)(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  count(locks);
  return next(condition, mutex);
}

}  // extern "C"

namespace lagtape::test {
namespace {

void on_system_call(int, siginfo_t* info, void*) {
  shared->system_calls = 1;
  shared->last_system_call = info->si_syscall;
  shared->allocations = allocations;
  shared->locks = locks;
  _exit(0);
}

/// From here on every system call but the process's end raises SIGSYS. Returns whether the kernel takes that.
bool trap_system_calls() {
  struct sigaction action = {};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs a function in a child and returns its status as waitpid gives it.
template <class F>
int status_of_child(F run) {
  const pid_t child = fork();
  if (child < 0) throw Error("[watch] no process can be made");
  if (child == 0) {
    run();
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

bool can_watch_system_calls() {
  static const bool can = status_of_child([] { _exit(trap_system_calls() ? 0 : 1); }) == 0;
  return can;
}

Blocking watched(Work prepare, Work work, void* context) {
  void* memory = mmap(nullptr, sizeof(Blocking), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error("[watch] no memory");
  shared = new (memory) Blocking;
  const bool traps = can_watch_system_calls();
  const int status = status_of_child([&] {
    prepare(context);
    if (traps && !trap_system_calls()) _exit(2);
    watching = true;
    work(context);
    watching = false;
    shared->allocations = allocations;
    shared->locks = locks;
    _exit(0);
  });
  const Blocking result = *shared;
  munmap(memory, sizeof(Blocking));
  if (status != 0) throw Error(text_of("[watch] the process ended with status ", status));
  return result;
}

}  // namespace lagtape::test
