#include <fmt/core.h>

#include "lagtape/tools/cli/commands.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/export_data.h"

namespace lagtape::cli {

namespace {

struct DataArguments {
  ExperimentArguments experiment;
  std::string out;
  std::int64_t fresh = 1000;
  int threads = 1;
};

void add_options(CLI::App& command, DataArguments& arguments) {
  arguments.experiment.add_to(command);
  command.add_option("--out", arguments.out, "archive of arrays to write (.npz)")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--fresh", arguments.fresh, "training sequences to write of a task whose data never end")
      ->check(integer_from(1))
      ->capture_default_str();
  add_threads(command, arguments.threads);
}

void run(const DataArguments& arguments) {
  const Experiment experiment = read_experiment(arguments.experiment.file, arguments.experiment.set);
  ThreadPool pool(arguments.threads);
  export_data(arguments.out, experiment.load_task(pool), experiment.train.precision, arguments.fresh, pool);
}

}  // namespace

void add_data(CLI::App& tool) {
  add_command<DataArguments>(tool, "data", "Write what a task generates or reads as arrays", add_options,
                             run);
}

}  // namespace lagtape::cli
