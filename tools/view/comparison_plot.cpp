#include "lagtape/tools/view/comparison_plot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

/// The value of a metric on the validation set, and when it was measured.
struct Evaluation {
  MetricsPosition position;
  double value;
};
using Curve = std::vector<Evaluation>;

/// The curves of a run's validation set by metric, of those that are wanted.
std::map<std::string, Curve> curves_of(const fs::path& folder, const std::set<std::string>& wanted) {
  std::map<std::string, Curve> curves;
  for_each_json_line(RunFolder(folder).metrics_file(), [&](const Json& row, const std::string& where) {
    std::optional<MetricsPosition> position;
    for (const auto& [key, value] : row.items()) {
      if (!key.starts_with("valid_") || !value.is_number()) continue;
      const std::string metric = key.substr(std::string_view("valid_").size());
      if (!wanted.contains(metric)) continue;
      if (!position) position = metrics_position(row, where);
      curves[metric].push_back({*position, value.get<double>()});
    }
  });
  return curves;
}

/// Whether each evaluation is of a later epoch than the one before. A training set that never ends has updates alone.
bool counts_epochs(const Curve& curve) {
  double before = -1;
  return std::ranges::all_of(curve, [&](const Evaluation& one) {
    return one.position.epoch > std::exchange(before, one.position.epoch);
  });
}

/// The mean over curves, as far as all of them go.
PlotLine mean_of(const std::vector<Curve>& curves, std::string name, bool by_epoch) {
  PlotLine line{.name = std::move(name), .x = {}, .y = {}};
  std::size_t length = curves.empty() ? 0 : curves[0].size();
  for (const auto& curve : curves) length = std::min(length, curve.size());
  for (std::size_t i = 0; i < length; ++i) {
    double sum = 0;
    for (const auto& curve : curves) sum += curve[i].value;
    line.x.push_back(by_epoch ? curves[0][i].position.epoch : curves[0][i].position.step);
    line.y.push_back(sum / static_cast<double>(curves.size()));
  }
  return line;
}

std::string label_of(const Comparison& comparison, const ComparedRuns& group) {
  std::string label;
  for (std::size_t i = 0; i < comparison.differing.size() && i < 3; ++i) {
    const std::string& pointer = comparison.differing[i];
    const Json& value = group.settings[i];
    label += text_of(label.empty() ? "" : ", ", pointer.substr(pointer.rfind('/') + 1), " ",
                     value.is_string()         ? value.get<std::string>()
                     : value.is_null()         ? "-"
                     : value.is_number_float() ? text_of(value.get<double>())
                                               : value.dump());
  }
  return label.empty() ? group.name() : label;
}

/// The metrics on the validation set that runs may have, the loss first.
std::vector<std::string> possible_metrics(const Comparison& comparison) {
  std::vector<std::string> metrics = metric_names();
  metrics.insert(metrics.begin(), "loss");
  for (const auto& [name, value] : comparison.groups.front().numbers) {
    const std::string own = name.starts_with("valid ") ? name.substr(6) : "";
    if (const std::optional<Metric> found = find_metric(own); found && found->is_of_class())
      metrics.push_back(own);
  }
  return metrics;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> compared_curves(const Comparison& comparison) {
  std::vector<std::string> common = possible_metrics(comparison);
  const std::set<std::string> wanted(common.begin(), common.end());
  std::vector<std::vector<std::map<std::string, Curve>>> curves;  // by group and run
  for (const ComparedRuns& group : comparison.groups) {
    curves.emplace_back();
    for (const fs::path& folder : group.folders) {
      curves.back().push_back(curves_of(folder, wanted));
      std::erase_if(common,
                    [&](const std::string& metric) { return !curves.back().back().contains(metric); });
      if (common.empty()) return {};
    }
  }
  std::vector<std::pair<std::string, Plot>> plots;
  for (const std::string& metric : common) {
    const bool larger_is_better = metric != "loss" && lagtape::metric(metric).larger_is_better;
    std::vector<std::vector<Curve>> of_groups;
    bool by_epoch = true;
    for (auto& group : curves) {
      of_groups.emplace_back();
      for (auto& of_run : group) {
        of_groups.back().push_back(std::move(of_run.at(metric)));
        by_epoch = by_epoch && counts_epochs(of_groups.back().back());
      }
    }
    Plot plot{.title = text_of(metric, " on the validation set"),
              .x = {.title = by_epoch ? "epoch" : "update"},
              .y = {.title = metric, .log = !larger_is_better}};
    if (larger_is_better) plot.y.max = 1;  // accuracy, f1, auc and r2 cannot be larger
    for (std::size_t i = 0; i < of_groups.size(); ++i)
      plot.lines.push_back(mean_of(of_groups[i], label_of(comparison, comparison.groups[i]), by_epoch));
    plots.emplace_back(metric, std::move(plot));
  }
  return plots;
}

}  // namespace lagtape
