#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lagtape::cli {

/// One option of a command as plain data, from which `command_line.cpp` makes the parser. Calls that describe
/// it can be chained.
struct Option {
  using Action = std::function<void(const std::string&)>;
  using Value = std::variant<bool*, int*, std::int64_t*, std::optional<double>*, std::string*,
                             std::vector<std::string>*, Action>;

  std::string name;  ///< "--threads"; a name without dashes is a positional argument
  Value
      value;  ///< the field that the option fills, with its default; a bool is a flag; or a function to call
  std::string about;

  bool is_required = false, shows_default = false, may_be_empty = true, is_repeatable = false;
  std::string placeholder;            ///< the word for the value in the help text, such as "FILE"
  char separator = 0;                 ///< the character between several values of one argument; 0: none
  std::optional<std::int64_t> least;  ///< the smallest valid integer
  std::optional<std::pair<int, int>> range;                  ///< the smallest and the largest valid integer
  std::vector<std::string> choices;                          ///< the valid values; empty: any
  std::vector<std::pair<std::string, std::string>> refused;  ///< invalid values, each with a reason
  std::function<std::vector<std::string>()> suggested;  ///< values that shells complete; others are valid too
  std::vector<std::string> needed;                      ///< the options that must be given with this one
  std::vector<std::string> excluded;                    ///< the options that cannot be given with this one

  Option& required() { return is_required = true, *this; }
  Option& show_default() { return shows_default = true, *this; }
  Option& not_empty() { return may_be_empty = false, *this; }
  /// The option may be given several times, each time with one value.
  Option& repeatable() { return is_repeatable = true, *this; }
  Option& called(std::string word) { return placeholder = std::move(word), *this; }
  Option& separated_by(char character) { return separator = character, *this; }
  /// The value is an integer of at least `smallest`; texts that only start with one are errors.
  Option& at_least(std::int64_t smallest) { return least = smallest, *this; }
  /// The value is an integer within bounds that the help text states.
  Option& between(int smallest, int largest) { return range = {smallest, largest}, *this; }
  /// The value must be one of these, which shells complete.
  Option& one_of(std::vector<std::string> values) { return choices = std::move(values), *this; }
  /// The value is rejected with this reason.
  Option& refuses(std::string value, std::string reason) {
    return refused.emplace_back(std::move(value), std::move(reason)), *this;
  }
  /// Shells complete what the function returns; it is called on completion. Other values are valid too.
  Option& suggests(std::function<std::vector<std::string>()> values) {
    return suggested = std::move(values), *this;
  }
  Option& needs(std::vector<std::string> names) { return needed = std::move(names), *this; }
  Option& excludes(std::vector<std::string> names) { return excluded = std::move(names), *this; }
};

/// The options of a command, in the order of its help text.
class Options {
 public:
  Option& add(std::string name, Option::Value value, std::string about);
  const std::deque<Option>& all() const { return all_; }

 private:
  std::deque<Option> all_;  // A reference to an option stays valid while others are added.
};

/// A command line and what it does.
struct Example {
  std::string line, about;
};

/// One command of the tool. `run` is called once the options have the user's values. Exceptions of the library pass
/// through it, and `command_line.cpp` turns them into messages and exit codes.
struct Command {
  std::string name, about;
  Options options;
  std::function<void()> run;
  std::vector<Example> examples = {};  ///< its help text starts with them
};

/// A command whose arguments are the fields of a struct that lives as long as the command. It supports --json,
/// at least for its errors.
template <class Arguments>
Command make_command(std::string name, std::string about, void (*add_options)(Options&, Arguments&),
                     void (*run)(const Arguments&), std::vector<Example> examples = {}) {
  Command command{.name = std::move(name),
                  .about = std::move(about),
                  .options = {},
                  .run = {},
                  .examples = std::move(examples)};
  auto arguments = std::make_shared<Arguments>();
  add_options(command.options, *arguments);
  const auto as_json = std::make_shared<bool>();
  if (std::ranges::find(command.options.all(), "--json", &Option::name) == command.options.all().end())
    command.options.add("--json", as_json.get(), "print errors as one JSON object on stderr");
  command.run = [arguments, run, as_json] { run(*arguments); };
  return command;
}

}  // namespace lagtape::cli
