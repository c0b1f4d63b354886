// The lagtape tool: its standard streams, its commands, and whether its output arrived.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/command_line.h"
#include "lagtape/tools/cli/commands.h"
#include "lagtape/tools/cli/terminal/exit_code.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/version.h"

namespace {

/// Opens closed standard streams as read-only /dev/null, so that no other file gets their numbers and writing
/// to them fails.
void occupy_standard_streams() {
  while (true) {
    const int descriptor = ::open("/dev/null", O_RDONLY);
    if (descriptor < 0) return;
    if (descriptor > 2) {
      ::close(descriptor);
      return;
    }
  }
}

/// Flushes stdout. A result that could not be written is a failure.
int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return lagtape::cli::kDone;
  lagtape::cli::report(lagtape::text_of("stdout: cannot write: ", std::strerror(errno)));
  return lagtape::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace lagtape::cli;
  occupy_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of file size then fails, and the command says so
  const std::string version = lagtape::text_of("lagtape ", lagtape::kVersion);
  const int code = run_command_line(commands(), version, argc, argv);
  return code == kDone ? finish_output() : code;
} catch (const std::bad_alloc&) {
  // run_command_line reports exceptions of commands; this one comes from before it or after it, or from a
  // report.
  std::fputs("lagtape: out of memory\n", stderr);
  return lagtape::cli::kFailed;
}
