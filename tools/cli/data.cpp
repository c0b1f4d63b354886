#include <fmt/core.h>

#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
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

void add_options(Options& options, DataArguments& arguments) {
  arguments.experiment.add_to(options);
  options.add("--out", &arguments.out, "file of arrays to write (.npz)").required().called("FILE");
  options
      .add("--fresh", &arguments.fresh,
           "number of training sequences to write if the task draws fresh ones for every step")
      .at_least(1)
      .show_default();
  add_threads(options, arguments.threads);
}

void run(const DataArguments& arguments) {
  const Experiment experiment = read_experiment(arguments.experiment.file, arguments.experiment.set);
  ThreadPool pool(arguments.threads);
  export_data(arguments.out, experiment.load_task(pool), experiment.train.precision, arguments.fresh, pool);
}

}  // namespace

Command data_command() {
  return make_command<DataArguments>(
      "data", "Write the data of a task as arrays", add_options, run,
      {{"lagtape data load.json --out load.npz", "train_x, train_y, valid_x, ..."}});
}

}  // namespace lagtape::cli
