#include "lagtape/tools/view/forecast_plot.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// A line through the last values.
PlotLine line_of(std::string name, const std::vector<double>& values) {
  const std::int64_t first = std::max<std::int64_t>(std::ssize(values) - ForecastPlot::kMost, 0);
  return line_over(std::move(name), {values.begin() + first, values.end()}, first);
}

}  // namespace

ForecastPlot::ForecastPlot(const DataShape& data, const Scaling& scaling, LossFunction loss)
    : every_step_(data.every_step), scaling_(scaling), loss_(std::move(loss)) {
  if (data.output < 1) {
    throw unexpected({.op = "plot"}, Rule::not_supported, "data with real numbers as targets",
                     text_of(data.classes, " classes"));
  }
  truth_.resize(static_cast<std::size_t>(data.output));
  for (auto* lists : {&predicted_, &low_, &high_}) lists->resize(truth_.size());
}

void ForecastPlot::add(const Tensor& outputs, const Batch& batch) {
  if (batch.size() == 0) return;
  if (first_id_ < 0) first_id_ = batch.ids[0];
  if (every_step_) {
    if (batch.ids[0] == first_id_) add_row(outputs, batch, 0, batch.lengths[0]);
    return;
  }
  for (std::int64_t row = 0; row < batch.size() && points_ < kMost; ++row) add_row(outputs, batch, row, 1);
}

void ForecastPlot::add_row(const Tensor& outputs, const Batch& batch, std::int64_t row, std::int64_t steps) {
  const std::int64_t width = std::ssize(truth_), stride = every_step_ ? outputs.size(1) : 1;
  const std::int64_t each = loss_.outputs_of_target();
  const Normalization all{.input = {}, .output = scaling_};
  const Scaling& scaling = batch.normalization(row, all).output;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t place = (row * stride + step) * width + i;
      const auto column = static_cast<std::size_t>(i);
      truth_[column].push_back(scaling.restored(batch.y.at(place), column));
      std::vector<double> own;
      for (std::int64_t k = 0; k < each; ++k) own.push_back(outputs.at(place * each + k));
      predicted_[column].push_back(scaling.restored(own[static_cast<std::size_t>(loss_.middle())], column));
      if (!loss_.has_levels()) continue;
      const std::vector<double> quantiles = loss_.quantiles(own);
      low_[column].push_back(scaling.restored(quantiles.front(), column));
      high_[column].push_back(scaling.restored(quantiles.back(), column));
    }
  }
  points_ += steps;
}

Plot ForecastPlot::plot(const std::string& title, const std::vector<std::string>& names) const {
  Plot plot{.title = title,
            .x = {.title = every_step_ ? "step of the first sequence" : "sequence"},
            .y = {.title = "target, in the units of the data"}};
  for (std::size_t i = 0; i < truth_.size(); ++i) {
    const bool is_one = truth_.size() == 1;
    const std::string name = names.size() == truth_.size() ? names[i] + " " : "";
    const std::string which = is_one || !name.empty() ? std::string() : text_of(" ", i);
    plot.lines.push_back(line_of(name + "truth" + which, truth_[i]));
    plot.lines.back().broad = true;
    plot.lines.push_back(line_of(name + "prediction" + which, predicted_[i]));
    if (low_[i].empty()) continue;
    PlotLine lower = line_of("", low_[i]);
    const std::vector<double>& levels = loss_.options.levels;
    plot.bands.push_back({.name = text_of("q", levels.front(), " to q", levels.back(), which),
                          .x = std::move(lower.x),
                          .low = std::move(lower.y),
                          .high = line_of("", high_[i]).y,
                          .line = plot.lines.size() - 1});
  }
  return plot;
}

}  // namespace lagtape
