#include <fmt/core.h>

#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/fit/delay_fit.h"
#include "lagtape/tools/fit/model_fit.h"

namespace lagtape::cli {

namespace {

struct FitArguments {
  ExperimentArguments experiment;
  std::string robust = "none", output;
  std::vector<std::string> profile;
  std::optional<double> level = 0.95;
  int threads = 1;
  bool json = false;
};

void add_options(Options& options, FitArguments& arguments) {
  arguments.experiment.add_to(options);
  options
      .add("--profile", &arguments.profile, "also find this param's interval by fits of all others along it")
      .called("NAME");
  options.add("--robust", &arguments.robust, "loss of residuals, against outliers")
      .one_of({"none", "huber", "soft_l1"})
      .show_default();
  options.add("--level", &arguments.level, "probability of the intervals");
  options.add("--output", &arguments.output, "write the fitted model (.safetensors)")
      .not_empty()
      .called("FILE");
  add_threads(options, arguments.threads);
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

RobustLoss robust_named(const std::string& name) {
  return name == "huber" ? RobustLoss::huber : name == "soft_l1" ? RobustLoss::soft_l1 : RobustLoss::none;
}

void print_result(const FitResult& result, double level) {
  print("{:<20}{:>14}{:>14}   {:g} % interval\n", "param", "estimate", "std. error", 100 * level);
  for (const FitResult::Row& row : result.rows)
    print("{:<20}{:>14.7g}{:>14.3g}   {:.6g} to {:.6g}{}{}\n", row.param.name, row.estimate.value,
          row.estimate.standard_error, row.estimate.low, row.estimate.high,
          row.param.unit.empty() ? "" : "  ", row.param.unit);
  for (const FitProfile& profile : result.profiles)
    print("{:<20}{:>14}{:>14}   {:.6g} to {:.6g}, by its profile\n", profile.name, "", "", profile.low,
          profile.high);
  print("\n{} readings, rmse {:.6g}, {} steps, stopped by {}; condition of J^T J {:.3g}\n",
        result.residuals.size(), result.rmse, result.steps, name_of(result.stopped_by),
        result.statistics.condition);
  for (const std::string& note : result.notes) print("{}\n", note);
}

FitResult fitted(const FitArguments& arguments, const FitOptions& options, ThreadPool& pool) {
  ExperimentFile file = arguments.experiment.parse();
  file.document = assigned(file.document, arguments.experiment.set);
  if (DelayFit::applies(file.document)) {
    if (!arguments.output.empty())
      throw InputError({.item = "--output"}, Rule::not_supported,
                       "equations in continuous time have no model file.");
    DelayFit problem(file);
    return fit_delay_equations(problem, options);
  }
  ModelFit problem(arguments.experiment.read(), pool);
  const FitResult result = fit_params(problem, options);
  if (!arguments.output.empty()) problem.model().save(arguments.output);
  return result;
}

void run(const FitArguments& arguments) {
  const double level = arguments.level.value_or(0.95);
  if (!(level > 0 && level < 1))
    throw InputError({.item = "--level"}, Rule::out_of_range, "a probability is between 0 and 1",
                     text_of(level));
  ThreadPool pool(arguments.threads);
  const FitOptions options{
      .level = level, .robust = robust_named(arguments.robust), .profile = arguments.profile};
  const FitResult result = fitted(arguments, options, pool);
  if (arguments.json) {
    print("{}\n", json_of(result).dump(2));
  } else {
    print_result(result, level);
  }
}

}  // namespace

Command fit_command() {
  return make_command<FitArguments>(
      "fit", "Fit the params of equations to data, with standard errors and intervals", add_options, run,
      {{"lagtape fit tank.json", "estimates, standard errors, 95 % intervals"},
       {"lagtape fit tank.json --profile rate --json", "a profile, for scripts"}});
}

}  // namespace lagtape::cli
