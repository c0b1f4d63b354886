#include <fmt/core.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/export_data.h"
#include "lagtape/tools/view/sequence_plot.h"

namespace lagtape::cli {

namespace {

struct DataArguments {
  ExperimentArguments experiment;
  std::string out, plot;
  std::int64_t fresh = 1000;
  int threads = 1;
};

void add_options(Options& options, DataArguments& arguments) {
  arguments.experiment.add_to(options);
  options.add("--out", &arguments.out, "file of arrays to write (.npz)").not_empty().called("FILE");
  options
      .add("--plot", &arguments.plot,
           "draw the first training sequence (.svg, .png or .pdf), for real targets")
      .not_empty()
      .called("FILE");
  options
      .add("--fresh", &arguments.fresh,
           "number of training sequences to write if the task draws fresh ones for every step")
      .at_least(1)
      .show_default();
  add_threads(options, arguments.threads);
}

/// The columns that the experiment names as inputs.
std::vector<std::string> names_of_inputs(const Json& document) {
  std::vector<std::string> names;
  const Json* columns = document.find_pointer("/data/input");
  if (columns == nullptr || !columns->is_array()) return names;
  for (const Json& column : *columns)
    if (column.is_string()) names.push_back(column.get<std::string>());
  return names;
}

void run(const DataArguments& arguments) {
  if (arguments.out.empty() && arguments.plot.empty())
    throw InputError({}, Rule::missing, "which file?", {},
                     "Give --out FILE for arrays, --plot FILE for a chart, or both.");
  check_ending("--out", arguments.out, {".npz"});
  check_chart("--plot", arguments.plot);
  const Experiment experiment = arguments.experiment.read();
  std::vector<std::string> inputs;
  for (const NamedPath& named : paths_of(document_of(experiment))) inputs.push_back(named.path);
  check_not_an_input("--out", arguments.out, inputs);
  ThreadPool pool(arguments.threads);
  const Task task = experiment.load_task(pool);
  if (!arguments.plot.empty())
    write_chart(arguments.plot, plot_of_sequence(*task.train, experiment.name, pool,
                                                 names_of_inputs(document_of(experiment))));
  if (!arguments.out.empty())
    export_data(arguments.out, task, experiment.train.precision, arguments.fresh, pool);
}

}  // namespace

Command data_command() {
  return make_command<DataArguments>(
      "data", "Write the data of a task as arrays, or draw a sequence", add_options, run,
      {{"lagtape data load.json --out load.npz", "train_x, train_y, valid_x, ..."},
       {"lagtape data load.json --plot load.svg", "inputs and targets of the first training sequence"}});
}

}  // namespace lagtape::cli
