#include "lagtape/tools/cli/commands.h"

namespace lagtape::cli {

// A row for each command, which is defined in the file of its name: train.cpp, eval.cpp, ... Help lists them in this
// order.
// clang-format off
Command train_command();
Command fit_command();
Command eval_command();
Command predict_command();
Command forecast_command();
Command inspect_command();
Command check_command();
Command solve_command();
Command data_command();
Command analyze_command();
Command bench_command();
Command table_command();
Command search_command();
Command compare_command();
Command export_command();
Command import_command();
Command list_command();
Command new_command();
Command report_command();
Command schema_command();
Command completion_command();
Command runs_command();
Command version_command();

std::vector<Command> commands() {
  return {
      new_command(),
      train_command(),
      fit_command(),
      eval_command(),
      predict_command(),
      forecast_command(),
      inspect_command(),
      check_command(),
      solve_command(),
      data_command(),
      analyze_command(),
      bench_command(),
      table_command(),
      search_command(),
      runs_command(),
      compare_command(),
      report_command(),
      export_command(),
      import_command(),
      list_command(),
      schema_command(),
      completion_command(),
      version_command(),
  };
}
// clang-format on

Option& Options::add(std::string name, Option::Value value, std::string about) {
  Option option;
  option.name = std::move(name);
  option.value = std::move(value);
  option.about = std::move(about);
  return all_.emplace_back(std::move(option));
}

}  // namespace lagtape::cli
