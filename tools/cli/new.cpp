#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/new/starting_experiment.h"

namespace lagtape::cli {

namespace {

namespace fs = std::filesystem;

struct NewArguments {
  std::string data, cell = "tau_gru", target, future, path, output;
  std::int64_t units = 0;
};

void add_options(Options& options, NewArguments& arguments) {
  options
      .add("DATA", &arguments.data,
           "a task (lagtape list tasks), or your own recording (.csv); without it, the command asks")
      .suggests([] { return names_in({"tasks"}); });
  options.add("CELL", &arguments.cell, "a cell (lagtape list cells); by default tau_gru").suggests([] {
    return names_in({"cells"});
  });
  options.add("--units", &arguments.units, "size of the layer; by default chosen for the data")
      .at_least(1)
      .called("N");
  options
      .add("--target", &arguments.target,
           "column of the recording to predict; by default all columns of numbers")
      .not_empty()
      .called("COLUMN");
  options
      .add("--future", &arguments.future,
           "columns of the recording that are known ahead, such as weather forecasts, prices and holidays")
      .not_empty()
      .called("COLUMN,...");
  options
      .add("--path", &arguments.path,
           "files of the task, to read sizes from; by default they are not needed yet")
      .not_empty()
      .called("PATH");
  options
      .add("--output", &arguments.output,
           "file to write, which must not be there yet; by default standard output")
      .not_empty()
      .called("FILE");
}

/// "a,b" -> "a" and "b"
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream rest(list);
  for (std::string part; std::getline(rest, part, ',');) parts.push_back(part);
  return parts;
}

/// Asks for a line on the terminal; an empty one keeps the default.
std::string answer_to(const std::string& question, const std::string& fallback) {
  note("{}{}: ", question, fallback.empty() ? "" : " [" + fallback + "]");
  std::string line;
  if (!std::getline(std::cin, line)) throw InputError({"stdin"}, Rule::missing, "no answer.");
  return line.empty() ? fallback : line;
}

void ask(NewArguments& arguments) {
  if (isatty(STDIN_FILENO) == 0)
    throw unexpected({}, Rule::missing,
                     "a task (lagtape list tasks) or a .csv file, such as lagtape new load.csv");
  arguments.data = answer_to("Data: a task, or a .csv file of yours", "mackey_glass");
  arguments.cell = answer_to("Cell", arguments.cell);
  if (is_table_file(arguments.data))
    arguments.target = answer_to("Column to predict (all: just press Enter)", "");
  if (arguments.output.empty()) arguments.output = answer_to("File to write", "mine.json");
}

void run(const NewArguments& given) {
  NewArguments arguments = given;
  if (arguments.data.empty()) ask(arguments);
  const fs::path output = arguments.output;
  if (!output.empty() && fs::exists(output))
    throw InputError({output.string()}, Rule::exists, "exists already.", {}, "Give another --output.");
  const std::string text =
      starting_experiment({.data = arguments.data,
                           .cell = arguments.cell,
                           .units = arguments.units,
                           .path = arguments.path,
                           .target = arguments.target,
                           .future = parts_of(arguments.future),
                           .base = output.empty() ? fs::path() : fs::absolute(output).parent_path()});
  if (output.empty()) {
    print("{}", text);
    return;
  }
  write_file_atomically(output, text);
  note("wrote {}; next: lagtape check {}\n", output.string(), output.string());
}

}  // namespace

Command new_command() {
  return make_command<NewArguments>(
      "new", "Write a commented experiment to begin with, for a task or for your own recording", add_options,
      run,
      {{"lagtape new load.csv > load.json", "for a recording, with the tau-GRU"},
       {"lagtape new adding lem --output adding.json", "for a task and a cell"},
       {"lagtape new", "asks"}});
}

}  // namespace lagtape::cli
