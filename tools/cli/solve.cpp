#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/solve/solved_equations.h"
#include "lagtape/tools/view/solution_plot.h"

namespace lagtape::cli {

namespace {

struct SolveArguments {
  ExperimentArguments experiment;
  std::string cell, times, input, history, output, plot, phase, fit;
  std::vector<std::string> params;
  bool derivatives = false, json = false, order = false;
};

void add_options(Options& options, SolveArguments& arguments) {
  arguments.experiment.add_to(options, "experiment file, or a file with a cell alone (JSON)");
  options.add("--cell", &arguments.cell, "the cell, where the file has several in continuous time")
      .not_empty()
      .called("NAME");
  options.add("--param", &arguments.params, "another value of a param; repeatable")
      .repeatable()
      .called("NAME=VALUE");
  options.add("--fit", &arguments.fit, "params and weights as fitted, a file of `lagtape fit --json`")
      .not_empty()
      .called("FILE");
  options
      .add("--times", &arguments.times,
           "times to read: a,b,c, from A to B in steps, A:B:STEP, or a file with a time a line or a column "
           "\"t\" or \"time\"")
      .required()
      .called("TIMES");
  options
      .add("--input", &arguments.input, "input over time (.csv): a column of times, then those of the input")
      .not_empty()
      .called("FILE");
  options
      .add("--history", &arguments.history,
           "readings up to t = 0 (.csv): a column of times, and one for each state with such a history")
      .not_empty()
      .called("FILE");
  options.add("--derivatives", &arguments.derivatives,
              "derivatives by the trained params, lags and histories too");
  options.add("--order", &arguments.order,
              "measure the order: solve again with a half, a quarter and an eighth of the step");
  options.add("--json", &arguments.json, "print JSON");
  options.add("--output", &arguments.output, "write the solution (.csv, .json or .npz)")
      .not_empty()
      .called("FILE");
  options.add("--plot", &arguments.plot, "draw the states (.svg, .png or .pdf)").not_empty().called("FILE");
  options
      .add("--phase", &arguments.phase,
           "with --plot: one state over another, X,Y; each is NAME or NAME(t - LAG)")
      .not_empty()
      .called("X,Y");
}

Plot chart(const SolveArguments& arguments, const DelayEquations& equations, const SolvedEquations& solved,
           const DelayInput& input) {
  if (arguments.phase.empty()) return plot_of_solution(solved, equations.name());
  const std::vector<PhaseAxis> axes = phase_axes(arguments.phase, equations);
  return plot_of_phase(axes,
                       {values_on(axes[0], equations, solved.times, input),
                        values_on(axes[1], equations, solved.times, input)},
                       equations.name());
}

void run(const SolveArguments& arguments) {
  if (!arguments.phase.empty() && arguments.plot.empty())
    throw InputError({.item = "--phase"}, Rule::missing, "is the kind of a chart; give it a file", {},
                     "Add --plot FILE.svg.");
  check_ending("--output", arguments.output, {".csv", ".json", ".npz"});
  check_chart("--plot", arguments.plot);
  const ExperimentFile file = arguments.experiment.parse();
  for (const auto& [option, name] :
       {std::pair("--output", arguments.output), std::pair("--plot", arguments.plot)})
    check_not_an_input(option, name,
                       {arguments.experiment.file, arguments.input, arguments.history, arguments.times});
  const std::vector<double> times = times_of(arguments.times);
  const DelayInput input = arguments.input.empty() ? DelayInput() : read_delay_input(arguments.input);
  DelayEquations equations = [&] {
    try {
      return DelayEquations(assigned(file.document, arguments.experiment.set), arguments.cell, input.width);
    } catch (const InputError& error) {
      throw error.within({.file = file.where});
    }
  }();
  if (!arguments.fit.empty()) set_estimates(equations, arguments.fit);
  if (!arguments.history.empty()) read_histories(equations, arguments.history);
  for (const std::string& assignment : arguments.params) set_param(equations, assignment);
  const double end = times.empty() ? 0 : *std::ranges::max_element(times);
  for (const std::string& warning : equations.warnings(input, end)) note("note: {}\n", warning);
  if (arguments.order) {
    const MeasuredOrder order = measure_order(equations, times, input);
    return print_text(arguments.json ? json_of(order).dump() + "\n" : to_string(order));
  }
  SolvedEquations solved;
  try {
    solved = equations.solve(times, arguments.derivatives, input);
  } catch (const InputError& error) {
    throw error.within({.file = file.where});
  }
  if (!arguments.output.empty())
    write_file_atomically(arguments.output,
                          file_of(solved, std::filesystem::path(arguments.output).extension().string()));
  if (!arguments.plot.empty()) write_chart(arguments.plot, chart(arguments, equations, solved, input));
  if (arguments.json)
    print_text(json_of(solved).dump() + "\n");
  else if (arguments.output.empty() && arguments.plot.empty())
    print_text(serialize_csv(csv_of(solved)));
}

}  // namespace

Command solve_command() {
  return make_command<SolveArguments>(
      "solve", "Solve the equations of a cell in continuous time", add_options, run,
      {{"lagtape solve mackey.json --times 0:100:1 --plot mackey.svg", "states at these times, as a chart"},
       {"lagtape solve mackey.json --times 50,100 --derivatives --json",
        "and their derivatives by every param"},
       {"lagtape solve mackey.json --times 100 --param tau=18 --order",
        "how fast the error falls with the step"}});
}

}  // namespace lagtape::cli
