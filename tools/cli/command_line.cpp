// The only file that knows the parser of the command line, whose header takes seconds to compile.

#include "lagtape/tools/cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/unusable_path.h"
#include "lagtape/core/json/problem_json.h"
#include "lagtape/core/out_of_memory.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/cli/terminal/exit_code.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"

namespace lagtape::cli {

namespace {

// ---- Options ----

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

using Check = std::function<std::optional<Problem>(const std::string& text)>;

Check integer_between(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) -> std::optional<Problem> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_integer = error == std::errc() && end == text.data() + text.size();
    if (is_integer && value >= least && value <= most) return {};
    return Problem{.rule = is_integer ? Rule::out_of_range : Rule::wrong_type,
                   .found = quote(text),
                   .expected = text_of("an integer >= ", least,
                                       most < kLargest ? text_of(" and <= ", most) : " and below 2^63")};
  };
}

std::optional<Problem> problem_unless_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return {};
  return Problem{.rule = Rule::wrong_type, .found = quote(text), .expected = "a finite number"};
}

std::optional<Problem> problem_if_empty(const std::string& text) {
  if (!text.empty()) return {};
  return Problem{.rule = Rule::missing, .found = "''", .expected = "a name"};
}

/// Passes a check to the parser's own option.
void add_check(CLI::Option& parsed, const Check& check, const std::string& type = "") {
  const auto refuse = [&parsed, check](const std::string& text) -> std::string {
    if (const std::optional<Problem> problem = check(text))
      throw InputError(problem->within({.item = parsed.get_name()}));
    return "";
  };
  parsed.check(refuse, type);
}

/// Passes the restrictions of an option to the parser's own option. The first failing check gives the problem.
void restrict(CLI::Option& parsed, const Option& option) {
  if (option.is_required) parsed.required();
  if (option.least) add_check(parsed, integer_between(*option.least, kLargest));
  if (option.range)
    add_check(parsed, integer_between(option.range->first, option.range->second),
              text_of("INT in [", option.range->first, " - ", option.range->second, "]"));
  if (std::holds_alternative<std::optional<double>*>(option.value)) add_check(parsed, problem_unless_number);
  if (!option.choices.empty())
    add_check(parsed,
              [known = option.choices,
               refused = option.refused](const std::string& text) -> std::optional<Problem> {
                if (std::ranges::find(known, text) != known.end()) return {};
                for (const auto& [value, reason] : refused)
                  if (text == value) return Problem{.rule = Rule::not_supported, .statement = reason};
                return unknown_name("value", text, known);
              });
  if (!option.may_be_empty) add_check(parsed, problem_if_empty);
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

/// A help text that begins with examples, on lines that fit the terminal.
class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::vector<Example> examples) : examples_(std::move(examples)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const auto columns = static_cast<std::size_t>(terminal_width(STDOUT_FILENO));
    std::size_t width = 0;
    for (const Example& example : examples_)
      if (example.line.size() <= kWidest) width = std::max(width, example.line.size());
    std::string text = examples_.empty() ? "" : "Examples:\n";
    for (const Example& example : examples_) {
      const std::size_t gap = example.line.size() <= kWidest ? width - example.line.size() + 2 : 2;
      const bool fits = 2 + example.line.size() + gap + example.about.size() <= columns;
      text += text_of("  ", example.line, fits ? std::string(gap, ' ') : "\n      ", example.about, "\n");
    }
    if (!examples_.empty()) text += "\n";
    return text + CLI::Formatter::make_help(app, std::move(name), mode);
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), 0, terminal_width(STDOUT_FILENO));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return beside_names(option->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    const std::string name = "  " + command->get_display_name(true);
    const std::size_t gap = std::max(get_column_width(), name.size() + 1) - name.size();
    return text_of(name, std::string(gap, ' '), indented(beside_names(command->get_description())), "\n");
  }

 private:
  static constexpr std::size_t kWidest = 60;

  /// A description on as many lines as it needs beside the column of names.
  std::string beside_names(const std::string& text) const {
    const int room = terminal_width(STDOUT_FILENO) - static_cast<int>(get_column_width());
    return wrapped(text, 0, std::max(room, 24));
  }

  std::string indented(const std::string& text) const {
    return CLI::detail::find_and_replace(text, "\n", "\n" + std::string(get_column_width(), ' '));
  }

  std::vector<Example> examples_;
};

/// The first argument of the command that is not an option, such as its run or its experiment; "" when there is none.
std::string subject_of(const CLI::App& tool) {
  for (const CLI::App* command : tool.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      if (option->get_positional() && option->count() > 0) return option->results().front();
  return "";
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
  parser.callback(command.run);
}

// ---- Arguments that nothing took ----

/// The command that was given such arguments; the tool, where they are before a command or there is none.
const CLI::App& place_of_extras(const CLI::App& tool) {
  const auto commands = tool.get_subcommands();
  return commands.empty() || commands.front()->remaining().empty() ? tool : *commands.front();
}

/// The arguments that belong to no command and no option.
std::vector<std::string> left_over(const CLI::App& tool) { return place_of_extras(tool).remaining(); }

/// The message for the first of them, with the nearest known name.
Problem unexpected(const CLI::App& tool) {
  const CLI::App& place = place_of_extras(tool);
  const std::string extra = left_over(tool).front();
  std::vector<std::string> known;
  if (extra.starts_with('-')) {
    for (const CLI::Option* option : place.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    Problem problem = unknown_name("option", extra.substr(0, extra.find('=')), known);
    if (place.get_option_no_throw("--set") != nullptr)
      problem.hint = "An experiment is changed by --set, as in --set train.epochs=3.";
    return problem;
  }
  if (&place != &tool)
    return {.statement = text_of(quote(extra), " is one argument too many for ", place.get_name())};
  if (extra == "help")
    return {.statement = "'help' is no command: `lagtape --help`, or `lagtape COMMAND --help`."};
  for (const CLI::App* command : tool.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return unknown_name("command", extra, known);
}

// ---- Failures ----

/// Why the tool ends, and with which exit code.
struct Failure {
  int code;
  std::vector<Problem> problems;
};

/// The failure of the exception in flight.
Failure failure_of(const CLI::App& tool) try { throw; } catch (const CLI::ParseError& error) {
  return {kWrongInput,
          {left_over(tool).empty() ? Problem{.rule = Rule::syntax, .statement = error.what()}
                                   : unexpected(tool)}};
} catch (const InputError& error) {
  return {kWrongInput, error.problems()};
} catch (const DivergenceError& error) {
  return {kDiverged, {{.rule = Rule::diverged, .statement = error.what()}}};
} catch (const Interrupted& error) {
  return {kInterrupted, {{.rule = Rule::interrupted, .statement = error.what()}}};
} catch (const std::filesystem::filesystem_error& error) {
  return {kWrongInput, unusable_path(error).problems()};
} catch (const OutOfMemory& error) {
  return {kFailed,
          {{.place = {subject_of(tool)},
            .rule = Rule::no_memory,
            .statement = text_of("does not fit into the memory: ", error.what())}}};
} catch (const std::bad_alloc&) {
  return {
      kFailed,
      {{.place = {subject_of(tool)}, .rule = Rule::no_memory, .statement = "does not fit into the memory."}}};
} catch (const std::exception& error) {
  return {kFailed, {{.statement = error.what()}}};
}

/// Prints the problems on stderr: as one JSON object with --json, else a line for each. `train` also
/// writes them to the file of --problems.
void report_problems(const std::vector<Problem>& problems, const CLI::App& tool, std::span<char*> arguments) {
  const auto commands = tool.get_subcommands();
  const auto option = [&](const char* name) {
    return commands.empty() ? nullptr : commands.front()->get_option_no_throw(name);
  };
  const auto is_given = [](const char* argument) { return std::string_view(argument) == "--json"; };
  if (std::ranges::any_of(arguments, is_given)) {
    std::fputs((json_of(problems).dump(-1, ' ', true) + "\n").c_str(), stderr);
  } else {
    report(to_string(problems));
  }
  if (const CLI::Option* file = option("--problems"); file != nullptr && file->count() > 0)
    write_file_atomically(file->results().front(), json_of(problems).dump(2) + "\n");
}

int run(CLI::App& tool, int argc, char** argv) try {
  tool.parse(argc, argv);
  if (!tool.get_subcommands().empty()) return kDone;
  throw InputError(left_over(tool).empty()
                       ? Problem{.rule = Rule::syntax, .statement = "expected a command. See lagtape --help."}
                       : unexpected(tool));
} catch (const CLI::Success& success) {  // --help and --version
  return tool.exit(success);
} catch (...) {
  const auto [code, problems] = failure_of(tool);
  report_problems(problems, tool, {argv, static_cast<std::size_t>(argc)});
  return code;
}

}  // namespace

int run_command_line(const std::vector<Command>& commands, const std::string& version, int argc,
                     char** argv) {
  CLI::App tool("Train recurrent networks with long memory on CPUs, and run them.", "lagtape");
  tool.set_version_flag("--version", version);
  tool.formatter(std::make_shared<HelpText>(
      std::vector<Example>{{"lagtape new load.csv > load.json", "begin with your own recording"},
                           {"lagtape new mackey_glass lem > mine.json", "or with a task and a cell"},
                           {"lagtape train load.json", "train it, into runs/load-0"},
                           {"lagtape eval runs/load-0", "score it on the test set"},
                           {"lagtape report runs/load-0 --output page.html", "a report on one page"}}));
  for (const Command& command : commands) add_command(tool, command);
  tool.require_subcommand(0, 1);  // words after a command belong to it: "list training train"
  tool.allow_extras();            // for the tool only: its commands, added before, refuse extras
  return run(tool, argc, argv);
}

}  // namespace lagtape::cli
