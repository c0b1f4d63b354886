#include <fmt/core.h>

#include <map>
#include <sstream>

#include "lagtape/core/io/file.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/tools/run_folder.h"
#include "lagtape/tools/table/report.h"

namespace lagtape::table {

namespace {

/// Sums of a metric by where in the training it was measured, so that runs are averaged place by place.
struct Sums {
  std::map<double, std::pair<double, int>> by_epoch, by_step;
  bool has_epochs = false;  ///< else the training set never ends, and steps are counted

  void add(const Plan& plan, const std::filesystem::path& metrics_file) {
    std::istringstream lines(read_file(metrics_file));
    const std::string key = "valid_" + plan.metric;
    for (std::string line; std::getline(lines, line);) {
      const Json row = parse_json(line, metrics_file.string());
      if (!row.contains(key) || !row[key].is_number()) continue;
      const double value = row[key].get<double>() * plan.scale;
      const auto take = [value](std::pair<double, int>& sum) { sum = {sum.first + value, sum.second + 1}; };
      take(by_epoch[row.value("epoch", 0.0)]);
      take(by_step[row.value("step", 0.0)]);
    }
    has_epochs = by_epoch.size() == by_step.size();
  }
};

PlotLine line_of(const std::string& name, const Sums& sums) {
  PlotLine line{.name = name, .x = {}, .y = {}};
  for (const auto& [x, sum] : sums.has_epochs ? sums.by_epoch : sums.by_step) {
    line.x.push_back(x);
    line.y.push_back(sum.first / sum.second);
  }
  return line;
}

}  // namespace

Plot learning_curves(const Plan& plan, const std::vector<Run>& runs) {
  bool epochs = true;
  Plot plot{.title = plan.title,
            .y = {.title = fmt::format("validation {}", plan.unit), .log = !plan.larger_is_better}};
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    Sums sums;
    const Outcome outcome = outcome_of(plan, i, runs);
    // A mean over runs of different lengths would jump where one of them ends.
    const RunState wanted = outcome.values.empty() ? RunState::unfinished : RunState::done;
    for (const Run* run : outcome.runs) {
      const std::filesystem::path metrics = RunFolder(run->folder).metrics_file();
      if (run->state == wanted && std::filesystem::exists(metrics)) sums.add(plan, metrics);
    }
    if (sums.by_step.empty()) continue;
    epochs = epochs && sums.has_epochs;
    plot.lines.push_back(line_of(plan.rows[i].name, sums));
  }
  plot.x.title = epochs ? "epoch" : "update";
  return plot;
}

}  // namespace lagtape::table
