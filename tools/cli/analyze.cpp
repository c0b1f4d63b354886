#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/analysis/analysis_json.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/view/analysis_plots.h"
#include "lagtape/tools/view/report/metrics_lines.h"

namespace lagtape::cli {

namespace {

struct AnalyzeArguments {
  ExperimentArguments experiment;
  AnalysisOptions options;
  std::string split = "test", plot;
  int threads = 1;
  bool json = false;
};

void add_options(Options& options, AnalyzeArguments& arguments) {
  AnalysisOptions& analysis = arguments.options;
  const auto count = [&](const std::string& name, std::int64_t& value, const std::string& about) {
    options.add(name, &value, about).at_least(1).called("N").show_default();
  };
  arguments.experiment.add_to(
      options, "run folder or weights file; or an experiment file (JSON), whose model is then untrained");
  options.add("--split", &arguments.split, "train, valid or test").show_default();
  count("--sequences", analysis.sequences, "number of sequences, from the first of the split");
  count("--steps", analysis.steps, "largest number of last steps of each sequence to analyze");
  count("--projections", analysis.projections,
        "random projections of a state Jacobian, which is exact up to this many rows");
  options.add("--bins", &analysis.bins, "number of bins of a histogram")
      .between(1, 10000)
      .called("N")
      .show_default();
  options.add("--values", &analysis.values, "names of the values to collect; by default all named values")
      .separated_by(',')
      .called("NAME,...");
  options
      .add("--plot", &arguments.plot, "write charts to PREFIX-gradients.svg, ... or DIR/gradients.svg, ...")
      .not_empty()
      .called("PREFIX|DIR");
  options.add("--bounds", &analysis.bounds,
              "also print the papers' bounds beside the measured values; follows all rows of a Jacobian");
  add_threads(options, arguments.threads);
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

// ---- Text ----

/// The lags 0, 1, 2, 5, 10, 20, 50, ... and the largest.
std::vector<std::int64_t> shown_lags(std::int64_t steps) {
  std::vector<std::int64_t> lags = {0};
  for (std::int64_t power = 1; power < steps; power *= 10)
    for (const std::int64_t lag : {power, 2 * power, 5 * power})
      if (lag < steps - 1) lags.push_back(lag);
  if (steps > 1) lags.push_back(steps - 1);
  return lags;
}

void print_row(const std::string& name, const std::vector<double>& values,
               const std::vector<std::int64_t>& lags, double scale = 1) {
  print("  {:<26}", name);
  for (const std::int64_t lag : lags) print(" {:>9.3g}", values[static_cast<std::size_t>(lag)] * scale);
  print("\n");
}

void print_value(const ValueAnalysis& value) {
  constexpr std::int64_t kFew = 100;  // with fewer samples a histogram has no meaning
  const Distribution& of = value.distribution;
  std::string peaks;
  for (std::size_t i = 0; i < of.peaks.size() && of.count >= kFew; ++i)
    peaks +=
        fmt::format("{}{:.3g} ({:.0f} %)", i == 0 ? "; peaks " : ", ", of.peaks[i], 100 * of.peak_shares[i]);
  const std::string left_out =
      of.not_finite > 0 ? fmt::format("; without {} that are not finite", of.not_finite) : "";
  print("  {:<26} mean {:.3g}, 5 % {:.3g}, median {:.3g}, 95 % {:.3g}{}{}{}\n", value.name, of.mean, of.low,
        of.median, of.high, peaks, left_out, value.fixed ? " (the same at every step)" : "");
}

void print_bounds(const LayerAnalysis& layer, const std::vector<std::int64_t>& lags) {
  const LayerBounds& bounds = *layer.bounds;
  print_row("Jacobian, row sums, max", layer.row_sum.max, lags);
  if (!bounds.jacobian.empty()) print_row("  bound", bounds.jacobian, lags);
  print("  Bound of the Jacobian: {}\n", bounds.jacobian_source);
  for (std::size_t s = 0; s < bounds.states.size(); ++s) {
    const StateAnalysis& state = layer.states[s];
    print("  Largest absolute entry of {} {:.3g}, bound {:.3g}\n", state.name,
          *std::ranges::max_element(state.largest.max), bounds.states[s]);
  }
  print("  Bound of the states: {}\n", bounds.state_source);
}

void print_analysis(const Analysis& analysis, const std::string& name, const std::string& split) {
  const auto [shortest, longest] = std::minmax_element(analysis.lengths.begin(), analysis.lengths.end());
  print("{}: {} sequence(s) of {}, {} steps long, the last {} of each\n", name, analysis.lengths.size(),
        split,
        *shortest == *longest ? fmt::format("{}", *longest) : fmt::format("{} to {}", *shortest, *longest),
        analysis.steps);
  const std::vector<std::int64_t> lags = shown_lags(analysis.steps);
  for (const LayerAnalysis& layer : analysis.layers) {
    print("\nlayer {} ({})\n  {:<26}", layer.index, layer.name, "lag");
    for (const std::int64_t lag : lags) print(" {:>9}", lag);
    print("\n");
    for (const StateAnalysis& state : layer.states) {
      print_row(fmt::format("|dL/d{}|", state.name), state.gradient.mean, lags);
      if (!state.last_step_gradient.mean.empty())
        print_row(fmt::format("|dL/d{}|, last step's L", state.name), state.last_step_gradient.mean, lags);
      print_row(fmt::format("2-norm of {}", state.name), state.norm.mean, lags);
    }
    print_row("Jacobian, rms", layer.frobenius.mean, lags, 1 / std::sqrt(static_cast<double>(layer.width)));
    if (layer.exact) print_row("Jacobian, spectral", layer.spectral.mean, lags);
    print("  Jacobian: {}\n",
          layer.exact ? "exact" : fmt::format("estimated by {} random projections", layer.projections));
    if (layer.bounds) print_bounds(layer, lags);
    for (const ValueAnalysis& value : layer.values) print_value(value);
  }
}

// ---- Plots ----

/// The path DIR/NAME.svg for a folder, otherwise PREFIX-NAME.svg.
std::filesystem::path plot_file(const std::string& plot, const std::string& name) {
  if (plot.ends_with('/') || std::filesystem::is_directory(plot))
    return std::filesystem::path(plot) / (name + ".svg");
  return plot + "-" + name + ".svg";
}

void write_plots(const Analysis& analysis, const std::string& title, const std::string& plot) {
  if (plot.ends_with('/')) std::filesystem::create_directories(plot);
  for (const auto& [name, chart] : plots_of(analysis, title))
    write_file_atomically(plot_file(plot, name), chart.svg());
}

/// The norms of the parameters while a run was trained, where it noted them.
void write_norms(const std::filesystem::path& run, const std::string& title, const std::string& plot) {
  std::optional<Plot> chart = report::weight_norms(report::lines_of(RunFolder(run).metrics_file()));
  if (!chart) return;
  chart->title = title + ": norms of the parameters";
  write_file_atomically(plot_file(plot, "weights"), chart->svg());
}

void run(const AnalyzeArguments& arguments) {
  const std::string& file = arguments.experiment.file;
  ThreadPool pool(arguments.threads);
  const Source source = load_source(file, arguments.experiment.set, pool, arguments.experiment.row);
  const Task task = source.experiment.load_task(pool);
  const Dataset& split = task.split(arguments.split);
  if (split.size() == 0)
    throw InputError({.item = "--split"}, Rule::missing, text_of(file, " has no sequences in this split"),
                     quote(arguments.split));
  AnalysisOptions options = arguments.options;
  options.seed = source.experiment.seed;
  const Analysis analysis =
      analyze(source.model, split, is_run(file) ? normalization_of_data(source.model) : task.normalization,
              pool, options);
  if (!arguments.plot.empty()) {
    write_plots(analysis, source.experiment.name, arguments.plot);
    if (std::filesystem::is_directory(file)) write_norms(file, source.experiment.name, arguments.plot);
  }
  if (arguments.json) {
    print("{}\n", json_of(analysis, source.experiment.name, arguments.split).dump(2));
  } else {
    print_analysis(analysis, source.experiment.name, arguments.split);
  }
}

}  // namespace

Command analyze_command() {
  return make_command<AnalyzeArguments>(
      "analyze", "Analyze a model: the reach of gradients, norms of states, distributions of gates",
      add_options, run,
      {{"lagtape analyze runs/load-0 --plot charts/", "the reach of gradients, gates, as charts"},
       {"lagtape analyze load.json", "the untrained model"}});
}

}  // namespace lagtape::cli
