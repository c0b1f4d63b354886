// The only file that knows the parser of the command line, whose header takes seconds to compile.

#include "lagtape/tools/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/out_of_memory.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/cli/exit_code.h"

namespace lagtape::cli {

namespace {

// ---- Options ----

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::string error_unless_integer(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return {};
  return text_of("expected an integer >= ", least,
                 most < kLargest ? text_of(" and <= ", most) : " and below 2^63", ". Got ", quote(text), ".");
}

std::string error_unless_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return {};
  return text_of("expected a finite number. Got ", quote(text), ".");
}

std::string error_if_empty(const std::string& text) { return text.empty() ? "expected a name. Got ''." : ""; }

/// Passes the restrictions of an option to the parser's own option. The first failing check gives the
/// message.
void restrict(CLI::Option& parsed, const Option& option) {
  if (option.is_required) parsed.required();
  if (option.least) {
    const std::int64_t least = *option.least;
    parsed.check([least](const std::string& text) { return error_unless_integer(text, least, kLargest); },
                 "");
  }
  if (option.range) {
    const auto range = *option.range;
    const auto check = [range](const std::string& text) {
      return error_unless_integer(text, range.first, range.second);
    };
    parsed.check(check, text_of("INT in [", range.first, " - ", range.second, "]"));
  }
  if (std::holds_alternative<std::optional<double>*>(option.value)) parsed.check(error_unless_number, "");
  if (!option.choices.empty())
    parsed.check(
        [known = option.choices](const std::string& text) {
          return std::ranges::find(known, text) != known.end() ? ""
                                                               : unknown_name("value", text, known) + ".";
        },
        "");
  if (!option.may_be_empty) parsed.check(error_if_empty, "");
  if (option.is_repeatable) {
    parsed.expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  if (option.separator != 0) parsed.delimiter(option.separator)->allow_extra_args(false);
  if (!option.placeholder.empty()) parsed.type_name(option.placeholder);
  if (option.shows_default) parsed.capture_default_str();
}

CLI::Option* add_option(CLI::App& command, const Option& option) {
  const auto add = [&](const auto& value) -> CLI::Option* {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, Option::Action>) {
      return command.add_option_function<std::string>(option.name, value, option.about);
    } else if constexpr (std::is_same_v<Value, bool*>) {
      return command.add_flag(option.name, *value, option.about);
    } else {
      return command.add_option(option.name, *value, option.about);
    }
  };
  CLI::Option* parsed = std::visit(add, option.value);
  restrict(*parsed, option);
  return parsed;
}

/// A help text that begins with examples.
class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::vector<Example> examples) : examples_(std::move(examples)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::size_t width = 0;
    for (const Example& example : examples_)
      if (example.line.size() <= kWidest) width = std::max(width, example.line.size());
    std::string text = examples_.empty() ? "" : "Examples:\n";
    for (const Example& example : examples_) {
      const std::size_t gap = example.line.size() <= kWidest ? width - example.line.size() + 2 : 2;
      text += text_of("  ", example.line, std::string(gap, ' '), example.about, "\n");
    }
    if (!examples_.empty()) text += "\n";
    return text + CLI::Formatter::make_help(app, std::move(name), mode);
  }

 private:
  static constexpr std::size_t kWidest = 60;
  std::vector<Example> examples_;
};

/// The first argument of a command that is no option, such as its run or its experiment; "" when there is none.
std::string subject_of(const CLI::App& parser) {
  for (const CLI::Option* option : parser.get_options())
    if (option->get_positional() && option->count() > 0) return option->results().front();
  return "";
}

/// Runs a command. Where the memory does not suffice the message says for what: the command's first argument.
void run_in_memory(const std::function<void()>& run, const CLI::App& parser) try {
  run();
} catch (const OutOfMemory& error) {
  const std::string subject = subject_of(parser);
  if (subject.empty()) throw;
  throw Error(text_of(subject, ": does not fit into the memory: ", error.what()));
} catch (const std::bad_alloc&) {
  const std::string subject = subject_of(parser);
  if (subject.empty()) throw;
  throw Error(text_of(subject, ": does not fit into the memory."));
}

void add_command(CLI::App& tool, const Command& command) {
  CLI::App& parser = *tool.add_subcommand(command.name, command.about);
  for (const Option& option : command.options.all()) add_option(parser, option);
  for (const Option& option : command.options.all()) {
    CLI::Option* parsed = parser.get_option(option.name);
    for (const std::string& other : option.needed) parsed->needs(parser.get_option(other));
    for (const std::string& other : option.excluded) parsed->excludes(parser.get_option(other));
  }
  parser.formatter(std::make_shared<HelpText>(command.examples));
  parser.callback([run = command.run, &parser] { run_in_memory(run, parser); });
}

// ---- Messages ----

/// The message with overlong words, such as a path in the arguments, cut short.
std::string readable(std::string_view message) {
  constexpr std::size_t kLongest = 250;
  std::string text;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find_first_of(" \n"), message.size());
    text += shortened(message.substr(0, end), kLongest);
    message.remove_prefix(end);
    if (message.empty()) break;
    text += message.front();
    message.remove_prefix(1);
  }
  return text;
}

// ---- Arguments that nothing took ----

/// The command that was given such arguments; the tool, where they stand before a command or there is none.
const CLI::App& place_of_extras(const CLI::App& tool) {
  const auto commands = tool.get_subcommands();
  return commands.empty() || commands.front()->remaining().empty() ? tool : *commands.front();
}

/// The arguments that belong to no command and no option.
std::vector<std::string> left_over(const CLI::App& tool) { return place_of_extras(tool).remaining(); }

/// The message for the first of them, with the nearest known name.
std::string unexpected(const CLI::App& tool) {
  const CLI::App& place = place_of_extras(tool);
  const std::string extra = left_over(tool).front();
  std::vector<std::string> known;
  if (extra.starts_with('-')) {
    for (const CLI::Option* option : place.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::string message = unknown_name("option", extra.substr(0, extra.find('=')), known);
    const bool has_settings = place.get_option_no_throw("--set") != nullptr;
    return message + (has_settings ? ". An experiment is changed by --set, as in --set train.epochs=3." : "");
  }
  if (&place != &tool) return text_of(quote(extra), " is one argument too many for ", place.get_name());
  if (extra == "help") return "'help' is no command: `lagtape --help`, or `lagtape COMMAND --help`.";
  for (const CLI::App* command : tool.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return unknown_name("command", extra, known);
}

// ---- Exit codes ----

int run(CLI::App& tool, int argc, char** argv) try {
  tool.parse(argc, argv);
  if (!tool.get_subcommands().empty()) return kDone;
  report(left_over(tool).empty() ? "expected a command. See lagtape --help." : unexpected(tool));
  return kWrongInput;
} catch (const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    tool.exit(error);
    return kDone;
  }
  report(left_over(tool).empty() ? error.what() : unexpected(tool));
  return kWrongInput;
} catch (const InputError& error) {
  report(error.what());
  return kWrongInput;
} catch (const DivergenceError& error) {
  report(error.what());
  return kDiverged;
} catch (const Interrupted& error) {
  report(error.what());
  return kInterrupted;
} catch (const std::filesystem::filesystem_error& error) {
  report(text_of(error.path1().string(), ": cannot use this path: ", error.code().message()));
  return kWrongInput;
} catch (const std::bad_alloc&) {
  report("out of memory");
  return kFailed;
} catch (const std::exception& error) {
  report(error.what());
  return kFailed;
}

}  // namespace

void report(const std::string& message) {
  // Parts of a message come from files and arguments, and none of them shall act on the terminal.
  std::fputs(text_of("lagtape: ", readable(printable(message, true)), "\n").c_str(), stderr);
}

int run_command_line(const std::vector<Command>& commands, const std::string& version, int argc,
                     char** argv) {
  CLI::App tool("Train recurrent networks with long memory on CPUs, and run them.", "lagtape");
  tool.set_version_flag("--version", version);
  tool.formatter(std::make_shared<HelpText>(
      std::vector<Example>{{"lagtape new load.csv > load.json", "begin with a recording of your own"},
                           {"lagtape new mackey_glass lem > mine.json", "or with a task and a cell"},
                           {"lagtape train load.json", "train it, into runs/load-0"},
                           {"lagtape eval runs/load-0", "score it on the test set"},
                           {"lagtape report runs/load-0 --output page.html", "all about it on one page"}}));
  for (const Command& command : commands) add_command(tool, command);
  tool.require_subcommand(0, 1);  // words after a command belong to it: "list training train"
  tool.allow_extras();            // for the tool only: its commands, added before, refuse extras
  return run(tool, argc, argv);
}

}  // namespace lagtape::cli
