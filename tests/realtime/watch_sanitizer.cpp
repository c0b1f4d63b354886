#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "lagtape/core/error.h"
#include "lagtape/tests/realtime/watch.h"

// The watch of clang's sanitizer for real-time code (-fsanitize=realtime): it ends a process at the first call that may
// wait, and prints the place. It tells neither kinds of calls nor counts, so that each kind is noted as seen once.

namespace lagtape::test {

namespace {

constexpr int kFound = 43;  // the exit code of the sanitizer

void run_watched(Work work, void* context) [[clang::nonblocking]] { work(context); }

}  // namespace

/// System calls without a function of the C library are not seen, such as the test's own.
bool can_watch_system_calls() { return false; }

Blocking watched(Work prepare, Work work, void* context) {
  const pid_t child = fork();
  if (child < 0) throw Error("[watch] no process can be made");
  if (child == 0) {
    prepare(context);
    run_watched(work, context);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFound)
    return {.allocations = 1, .locks = 1, .system_calls = 1};
  if (status != 0) throw Error(text_of("[watch] the process ended with status ", status));
  return {};
}

}  // namespace lagtape::test
