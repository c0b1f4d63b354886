#include "lagtape/tools/view/report/metrics_lines.h"

#include <fmt/core.h>

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::report {

namespace {

bool larger_is_better(const std::string& name) {
  const std::optional<Metric> known = find_metric(name);
  return known && known->larger_is_better;
}

/// A key of the lines against the epoch, or against the update where epochs do not grow.
PlotLine curve_of(const std::vector<Json>& lines, const std::string& key, const std::string& name,
                  bool by_epoch) {
  PlotLine line{.name = name, .x = {}, .y = {}};
  for (const Json& row : lines) {
    const Json* value = row.find(key);
    if (value == row.end() || !value->is_number()) continue;
    line.x.push_back(row.value(by_epoch ? "epoch" : "step", 0.0));
    line.y.push_back(value->get<double>());
  }
  return line;
}

/// Whether the lines belong to epochs; else to updates.
bool count_epochs(const std::vector<Json>& lines) {
  return lines.back().value("epoch", 0.0) > lines.front().value("epoch", 0.0);
}

}  // namespace

std::vector<Json> lines_of(const std::filesystem::path& file) {
  std::vector<Json> lines;
  for_each_json_line(file, [&](Json row, const std::string& where) {
    metrics_position(row, where);
    lines.push_back(std::move(row));
  });
  return lines;
}

std::vector<Plot> learning_curves(const std::vector<Json>& lines) {
  std::vector<Plot> plots;
  if (lines.empty()) return plots;
  const bool by_epoch = count_epochs(lines);
  const std::string x = by_epoch ? "epoch" : "update";
  Plot losses{.title = "Loss", .x = {.title = x}, .y = {.title = "loss", .log = true}};
  losses.lines = {curve_of(lines, "train_loss", "training", by_epoch),
                  curve_of(lines, "valid_loss", "validation", by_epoch)};
  std::erase_if(losses.lines, [](const PlotLine& line) { return line.x.empty(); });
  if (!losses.lines.empty()) plots.push_back(std::move(losses));
  for (const auto& [key, value] : lines.back().items()) {
    if (!key.starts_with("valid_") || key == "valid_loss" || !value.is_number()) continue;
    const std::string name = key.substr(6);
    Plot plot{.title = name + " on the validation set", .x = {.title = x}, .y = {.title = name}};
    if (larger_is_better(name)) {
      plot.y.max = 1;
    } else {
      plot.y.log = true;
    }
    plot.lines.push_back(curve_of(lines, key, "", by_epoch));
    plots.push_back(std::move(plot));
  }
  return plots;
}

std::optional<Plot> weight_norms(const std::vector<Json>& lines) {
  constexpr std::string_view kPrefix = "norm_";
  if (lines.empty()) return {};
  const bool by_epoch = count_epochs(lines);
  Plot plot{.title = "Norms of the parameters",
            .x = {.title = by_epoch ? "epoch" : "update"},
            .y = {.title = "2-norm", .log = true}};
  for (const auto& [key, value] : lines.back().items()) {
    if (key.starts_with(kPrefix))
      plot.lines.push_back(curve_of(lines, key, key.substr(kPrefix.size()), by_epoch));
  }
  if (plot.lines.empty()) return {};
  return plot;
}

std::string number_text(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "-";
}

}  // namespace lagtape::report
