#include "lagtape/tools/cli/terminal/signals.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace lagtape::cli {

namespace {

volatile std::sig_atomic_t g_stop = 0;

extern "C" void request_stop(int) {
  constexpr std::string_view kAnswer = "\nstopping after this step; a second signal stops at once\n";
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kAnswer.data(), kAnswer.size());
  errno = error;
  g_stop = 1;
}

}  // namespace

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A terminal that is closed can send it twice. A program that was started to outlive the terminal ignores it.
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler == SIG_IGN) return;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
}

bool stop_requested() { return g_stop != 0; }

}  // namespace lagtape::cli
