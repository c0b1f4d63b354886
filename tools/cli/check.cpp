#include <fmt/core.h>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/analysis/model_description.h"
#include "lagtape/tools/analysis/model_gradients.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/train/experiment_check.h"

namespace lagtape::cli {

namespace {

struct CheckArguments {
  ExperimentArguments experiment;
  ModelGradientOptions options;
  int threads = 1;
  bool gradients = false, json = false;
};

void add_options(Options& options, CheckArguments& arguments) {
  arguments.experiment.add_to(options);
  options.add("--gradients", &arguments.gradients, "compare the gradients with central differences, in f64");
  options.add("--elements", &arguments.options.elements, "number of elements of each parameter to compare")
      .at_least(1)
      .show_default();
  options
      .add("--projections", &arguments.options.projections,
           "number of random directions of each parameter to compare")
      .at_least(0)
      .show_default();
  add_threads(options, arguments.threads);
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

/// Prints what the check found beside errors.
TrainingCost check(const Experiment& experiment, ThreadPool& pool) {
  const ExperimentCheck found = check_experiment(experiment, pool);
  announce_beginning(found.words, found.weights);
  tell(found.notes);
  warn(found.warnings);
  warn_of_cost(found.cost);
  return found.cost;
}

void run(const CheckArguments& arguments) {
  const Experiment experiment = arguments.experiment.read();
  ThreadPool pool(arguments.threads);
  const TrainingCost cost = check(experiment, pool);
  Json result = {{"name", experiment.name}, {"params", cost.parameters}, {"memory", memory_of(cost)}};
  if (!arguments.json) {
    print("{}: the experiment is valid, {} parameters\n", experiment.name, cost.parameters);
    print("memory: {}\n", text_of_cost(cost));
  }
  if (arguments.gradients) {
    const ModelGradients found = check_model_gradients(experiment, pool, arguments.options);
    if (!arguments.json) {
      print(
          "gradients: {} sequences of {} steps; up to {} elements and {} random projections of each "
          "parameter, {} numbers in total\n",
          found.sequences, found.steps, found.elements, found.projections, found.report.compared);
      print("largest difference / largest entry of the tensor: {:.3g} at {}\n", found.report.max_rel_error,
            found.report.worst);
      if (found.without_rounding)
        print(
            "compared without the rounding of products to bf16, which has no central differences; its "
            "derivative counts as one\n");
      if (found.moves > 0 && found.report.max_rel_error <= arguments.options.tolerance)
        print("compared at slightly moved parameters, since the loss has a kink at their own values\n");
    }
    result.update(json_of(found));
  }
  const double worst = result.value("max_rel_error", 0.0);
  const bool ok = worst <= arguments.options.tolerance;
  if (arguments.gradients) result["ok"] = ok;
  if (arguments.json) {
    print("{}\n", result.dump(2));
  } else if (arguments.gradients && ok) {
    print("gradients ok: within {:g} of the largest entry of each tensor\n", arguments.options.tolerance);
  }
  if (!ok) {
    throw Error(text_of(experiment.where, ": gradients and central differences disagree by more than ",
                        arguments.options.tolerance,
                        " of the largest entry of the tensor: ", result["worst"].get<std::string>()));
  }
}

}  // namespace

Command check_command() {
  return make_command<CheckArguments>(
      "check", "Check an experiment and its data, and with --gradients the gradients of its model",
      add_options, run,
      {{"lagtape check load.json", "the file and its data"},
       {"lagtape check load.json --gradients", "and the gradients of its model"}});
}

}  // namespace lagtape::cli
