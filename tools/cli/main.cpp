// The lagtape tool: exit codes and messages. Each command is in its own file.

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/commands.h"
#include "lagtape/tools/version.h"

namespace {

enum ExitCode { kDone = 0, kFailed = 1, kWrongInput = 2, kDiverged = 3, kInterrupted = 130 };

/// A message in which no word, such as a path that was given, is longer than one can read.
std::string readable(std::string_view message) {
  constexpr std::size_t kLongest = 250;
  std::string text;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find_first_of(" \n"), message.size() - 1) + 1;
    text += message.substr(0, std::min(end, kLongest));
    if (end > kLongest) text += "... ";
    message.remove_prefix(end);
  }
  return text;
}

/// What cannot be said on stderr is left unsaid: the exit code tells it.
void report(std::string_view message) {
  std::fputs(fmt::format("lagtape: {}\n", readable(message)).c_str(), stderr);
}

/// Takes the numbers of standard streams that are closed, so that no file of ours gets one. Whoever writes
/// there is told that it cannot be done.
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

/// A result that did not reach its reader is none.
int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kDone;
  report(lagtape::text_of("stdout: cannot write: ", std::strerror(errno)));
  return kFailed;
}

const CLI::App& chosen(const CLI::App& tool) {
  const auto commands = tool.get_subcommands();
  return commands.empty() ? tool : *commands.front();
}

/// Arguments that no command and no option took.
std::vector<std::string> left_over(const CLI::App& tool) {
  const std::vector<std::string> left = chosen(tool).remaining();
  return left.empty() ? tool.remaining() : left;
}

/// What is wrong with the first of them, with the nearest name that there is.
std::string unexpected(const CLI::App& tool) {
  const CLI::App& place = chosen(tool);
  const std::string extra = left_over(tool).front();
  std::vector<std::string> known;
  if (extra.starts_with('-')) {
    for (const CLI::Option* option : place.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    return lagtape::unknown_name("option", extra.substr(0, extra.find('=')), known);
  }
  if (&place != &tool)
    return lagtape::text_of("'", extra, "' is one argument too many for ", place.get_name());
  for (const CLI::App* command : tool.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return lagtape::unknown_name("command", extra, known);
}

int run(CLI::App& tool, int argc, char** argv) try {
  tool.parse(argc, argv);
  if (!tool.get_subcommands().empty()) return kDone;
  report(left_over(tool).empty() ? "which command? See lagtape --help." : unexpected(tool));
  return kWrongInput;
} catch (const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    tool.exit(error);
    return kDone;
  }
  report(left_over(tool).empty() ? error.what() : unexpected(tool));
  return kWrongInput;
} catch (const lagtape::InputError& error) {
  report(error.what());
  return kWrongInput;
} catch (const lagtape::DivergenceError& error) {
  report(error.what());
  return kDiverged;
} catch (const lagtape::Interrupted& error) {
  report(error.what());
  return kInterrupted;
} catch (const std::filesystem::filesystem_error& error) {
  report(lagtape::text_of(error.path1().string(), ": cannot use this path: ", error.code().message()));
  return kWrongInput;
} catch (const std::bad_alloc&) {
  report("out of memory");
  return kFailed;
} catch (const std::exception& error) {
  report(error.what());
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  CLI::App tool("Trains recurrences with long memory on CPUs, and runs what they learnt.", "lagtape");
  tool.set_version_flag("--version", fmt::format("lagtape {}", lagtape::kVersion));
  lagtape::cli::add_train(tool);
  lagtape::cli::add_eval(tool);
  lagtape::cli::add_predict(tool);
  lagtape::cli::add_inspect(tool);
  lagtape::cli::add_check(tool);
  lagtape::cli::add_data(tool);
  lagtape::cli::add_analyze(tool);
  lagtape::cli::add_bench(tool);
  lagtape::cli::add_table(tool);
  lagtape::cli::add_list(tool);
  tool.require_subcommand(0, 1);  // what follows a command is its own: "list training train"
  tool.allow_extras();            // of the tool alone: its commands, added before, refuse them
  const int code = run(tool, argc, argv);
  return code == kDone ? finish_output() : code;
}
