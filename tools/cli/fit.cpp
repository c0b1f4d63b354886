#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/fit/delay_fit.h"
#include "lagtape/tools/fit/model_fit.h"
#include "lagtape/tools/solve/solved_equations.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/view/fit_plot.h"

namespace lagtape::cli {

namespace {

struct FitArguments {
  ExperimentArguments experiment;
  std::string robust = "none", output, out, plot, start;
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
  options.add("--out", &arguments.out, "write the fitted model as a run folder, which must not exist")
      .not_empty()
      .called("RUN");
  options.add("--plot", &arguments.plot, "folder for charts: readings and fit, residuals, profiles (.svg)")
      .not_empty()
      .called("DIR");
  options.add("--start", &arguments.start, "begin with the estimates of an earlier fit, a file of --json")
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
  for (const auto& [name, rmse] : result.rmse_of) print("rmse of {}: {:.6g}\n", name, rmse);
  for (const std::string& note : result.notes) print("{}\n", note);
}

/// Begins with the estimates that a file has of params of these names, which those keep that are not fitted.
void start_from_file(FitProblem& problem, const std::string& file) {
  std::vector<std::pair<std::string, double>> estimates = read_estimates(file);
  std::vector<double> values;
  bool any = false;
  for (const FitParam& param : problem.params()) {
    const auto found = std::ranges::find(estimates, param.name, &std::pair<std::string, double>::first);
    any = any || found != estimates.end();
    values.push_back(found == estimates.end() ? param.start : found->second);
    if (!param.bounds.contains(values.back()))
      throw InputError({.file = file, .item = text_of("param '", param.name, "'")}, Rule::out_of_range,
                       text_of("is between ", param.bounds.low, " and ", param.bounds.high),
                       text_of(values.back()));
    if (found != estimates.end()) estimates.erase(found);
  }
  for (const auto& [name, value] : estimates) any = problem.fix(name, value) || any;
  if (!any)
    throw InputError({.file = file}, Rule::missing, "there is no estimate of a param of this fit", {},
                     "It is a file of `lagtape fit EXPERIMENT --json`.");
  problem.start_from(values);
}

FitResult with_traces(FitProblem& problem, FitResult result) {
  result.traces = problem.traces(estimates_of(result));
  return result;
}

void add_section(FitOptions& options, const FitSection& section) {
  options.profile.insert(options.profile.end(), section.profile.begin(), section.profile.end());
  options.adam = section.adam;
  options.lr = section.lr;
}

FitResult fitted(const FitArguments& arguments, FitOptions options, ThreadPool& pool) {
  ExperimentFile file = arguments.experiment.parse();
  file.document = assigned(file.document, arguments.experiment.set);
  if (DelayFit::applies(file.document)) {
    for (const auto& [option, name] :
         {std::pair("--output", arguments.output), std::pair("--out", arguments.out)})
      if (!name.empty())
        throw InputError({.item = option}, Rule::not_supported,
                         "equations in continuous time have no model file.", {},
                         "Keep what --json prints: `lagtape solve EXPERIMENT --fit FILE` reads it.");
    DelayFit problem(file);
    add_section(options, problem.section());
    if (!arguments.start.empty()) start_from_file(problem, arguments.start);
    return with_traces(problem, fit_delay_equations(problem, options));
  }
  const FitSection section = read_fit_section(file);
  add_section(options, section);
  file.document.erase("fit");
  if (value_at(file.document, "/optimizer/type") == "levenberg_marquardt") file.document.erase("optimizer");
  ModelFit problem(read_experiment(file, {}), pool, section);
  for (const auto& [option, name] :
       {std::pair("--output", arguments.output), std::pair("--out", arguments.out)})
    if (!name.empty() && problem.has_own())
      throw InputError({.item = option}, Rule::not_supported,
                       "a model has one value of each param, and here some are each series' own", {},
                       "Keep what --json prints, and fit a model for one series with \"only\" and --start.");
  if (!arguments.start.empty()) start_from_file(problem, arguments.start);
  const RunFolder run(arguments.out);
  if (!arguments.out.empty()) run.check(problem.experiment(), false);
  const FitResult result = fit_params(problem, options);
  static_cast<void>(problem.residuals(estimates_of(result)));  // which gives the model these values
  if (!arguments.output.empty()) problem.model().save(arguments.output);
  if (!arguments.out.empty()) run.write(problem.experiment(), problem.model());
  return with_traces(problem, result);
}

void write_plots(const FitResult& result, const std::string& folder, const std::string& title) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, plot] : plots_of_fit(result, title))
    write_chart((std::filesystem::path(folder) / (name + ".svg")).string(), plot);
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
  if (!arguments.plot.empty())
    write_plots(result, arguments.plot, std::filesystem::path(arguments.experiment.file).stem().string());
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
       {"lagtape fit tank.json --out runs/tank", "and the fitted model, like one that was trained"},
       {"lagtape fit tank.json --profile rate --json", "a profile, for scripts"}});
}

}  // namespace lagtape::cli
