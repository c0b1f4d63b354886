#include <fmt/core.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/sweep/table/table_trials.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/view/table_charts.h"

namespace lagtape::table {

namespace {

/// The values of a metric at each epoch or step at which it was measured, one of each run.
struct Values {
  std::map<double, std::vector<double>> by_epoch, by_step;
  bool has_epochs = false;  ///< false for a training set that never ends: steps count

  void add(const PaperTable& table, const std::string& split, const std::filesystem::path& metrics_file) {
    const std::string key = split + "_" + table.metric;
    for_each_json_line(metrics_file, [&](const Json& row, const std::string& where) {
      const Json* found = row.find(key);
      if (found == row.end() || !found->is_number()) return;
      const MetricsPosition position = metrics_position(row, where);
      const double value = found->get<double>() * table.scale;
      by_epoch[position.epoch].push_back(value);
      by_step[position.step].push_back(value);
    });
    has_epochs = by_epoch.size() == by_step.size();
  }
};

/// Adds the line of the means over runs, and where there are several runs the band of one standard deviation to either
/// side.
void draw(Plot& plot, const std::string& name, const Values& values) {
  PlotLine line{.name = name, .x = {}, .y = {}};
  PlotBand band{.name = "", .x = {}, .low = {}, .high = {}, .line = plot.lines.size()};
  for (const auto& [x, of_runs] : values.has_epochs ? values.by_epoch : values.by_step) {
    const auto [mean, deviation] = mean_and_deviation(of_runs);
    const double half = of_runs.size() > 1 ? deviation : std::numeric_limits<double>::quiet_NaN();
    line.x.push_back(x);
    line.y.push_back(mean);
    band.low.push_back(mean - half);
    band.high.push_back(mean + half);
  }
  band.x = line.x;
  if (has_width(band)) plot.bands.push_back(std::move(band));
  plot.lines.push_back(std::move(line));
}

/// The curves of one split; no lines where no run has measured it.
Plot curves_of(const PaperTable& table, const std::vector<Outcome>& outcomes, const std::string& split) {
  bool epochs = true;
  Plot plot{.title = table.title,
            .y = {.title = fmt::format("{} {}", split == "test" ? "test" : "validation", table.unit),
                  .log = !table.larger_is_better}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    Values values;
    const Outcome& outcome = outcomes[i];
    // A mean over runs of different lengths would jump where one of them ends.
    const RunState wanted = outcome.values.empty() ? RunState::unfinished : RunState::done;
    for (const Trial* trial : outcome.trials)
      if (trial->state == wanted) values.add(table, split, RunFolder(trial->folder).metrics_file());
    if (values.by_step.empty()) continue;
    epochs = epochs && values.has_epochs;
    draw(plot, table.rows[i].name, values);
  }
  explain_bands(plot);
  plot.x.title = epochs ? "epoch" : "update";
  return plot;
}

}  // namespace

bool has_width(const PlotBand& band) {
  for (std::size_t i = 0; i < band.x.size(); ++i)
    if (band.low[i] < band.high[i]) return true;
  return false;
}

void explain_bands(Plot& plot) {
  if (plot.bands.empty()) return;
  // One entry represents the bands of all lines, which differ in their colors alone.
  plot.bands.front().name = "one standard deviation over the seeds";
}

Plot learning_curves(const PaperTable& table, const std::vector<Trial>& trials) {
  const std::vector<Outcome> outcomes = outcomes_of(table, trials);
  // The test set's curves are drawn only if no row would be missing.
  Plot test = curves_of(table, outcomes, "test"), valid = curves_of(table, outcomes, "valid");
  return test.lines.size() < valid.lines.size() ? valid : test;
}

}  // namespace lagtape::table
