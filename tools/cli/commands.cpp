#include "lagtape/tools/cli/commands.h"

namespace lagtape::cli {

// Each command is defined in the file of its name: train.cpp, eval.cpp, ...
using MakeCommand = Command();
MakeCommand train_command, eval_command, predict_command, forecast_command, export_command, inspect_command,
    check_command, data_command, analyze_command, bench_command, table_command, import_command, list_command;

std::vector<Command> commands() {
  return {
      train_command(),   eval_command(),   predict_command(), forecast_command(), export_command(),
      inspect_command(), check_command(),  data_command(),    analyze_command(),  bench_command(),
      table_command(),   import_command(), list_command(),
  };
}

Option& Options::add(std::string name, Option::Value value, std::string about) {
  Option option;
  option.name = std::move(name);
  option.value = value;
  option.about = std::move(about);
  return all_.emplace_back(std::move(option));
}

}  // namespace lagtape::cli
