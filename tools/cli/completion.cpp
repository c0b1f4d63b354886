#include <fmt/core.h>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/commands.h"
#include "lagtape/tools/cli/manual.h"
#include "lagtape/tools/version.h"

namespace lagtape::cli {

namespace {

struct CompletionArguments {
  std::string form;
};

void add_options(Options& options, CompletionArguments& arguments) {
  options.add("FORM", &arguments.form, "bash, zsh, fish, or man for the manual page")
      .required()
      .one_of({"bash", "zsh", "fish", "man"});
}

void run(const CompletionArguments& arguments) {
  const std::vector<Command> all = commands();
  if (arguments.form == "bash") {
    fmt::print("{}", bash_completion(all));
  } else if (arguments.form == "zsh") {
    fmt::print("{}", zsh_completion(all));
  } else if (arguments.form == "fish") {
    fmt::print("{}", fish_completion(all));
  } else {
    fmt::print("{}", man_page(all, text_of("lagtape ", kVersion)));
  }
}

}  // namespace

Command completion_command() {
  return make_command<CompletionArguments>(
      "completion", "Print the completion of commands for a shell, or the manual page", add_options, run,
      {{"source <(lagtape completion bash)", "in this shell, where the tool is not installed"},
       {"lagtape completion man | man -l -", "the manual page"}});
}

}  // namespace lagtape::cli
