#include "lagtape/tools/view/forecast_plot.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/data/series/sequence_labels.h"

namespace lagtape {

namespace {

/// The last of some values, as many as there are places.
std::vector<double> last_of(const std::vector<double>& values, std::size_t count) {
  return {values.end() - static_cast<std::ptrdiff_t>(count), values.end()};
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

void ForecastPlot::add(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end) {
  if (first == end) return;
  const std::int64_t* ids = batch.ids.data();
  if (every_step_) {
    if (ids_.empty()) ids_.push_back(ids[first]);
    if (ids[first] == ids_.front())
      add_row(outputs, batch, first, batch.lengths[static_cast<std::size_t>(first)]);
    return;
  }
  for (std::int64_t row = first; row < end && points_ < kMost; ++row) {
    ids_.push_back(ids[row]);
    add_row(outputs, batch, row, 1);
  }
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

RowAxis ForecastPlot::axis_of(const Dataset* split) const {
  const std::int64_t shown = std::min(points_, kMost);
  RowAxis rows =
      axis_of_numbers(every_step_ ? "step of the first sequence" : "sequence", points_ - shown, shown);
  if (!split || ids_.empty()) return rows;
  std::vector<Instant> times;
  SequenceLabels labels;
  for (const std::int64_t id : ids_) {
    labels = labels_of(*split, id);
    times.insert(times.end(), labels.target_times.begin(), labels.target_times.end());
  }
  if (std::ssize(times) != points_ || !std::ranges::is_sorted(times)) return rows;
  return axis_of_times(std::span(times).last(static_cast<std::size_t>(shown)), labels.clock);
}

Plot ForecastPlot::plot(const std::string& title, const Dataset* split,
                        const std::vector<std::string>& names) const {
  const RowAxis rows = axis_of(split);
  SequenceLabels labels;
  if (split && !ids_.empty()) labels = labels_of(*split, ids_.front());
  std::vector<Quantity> quantities = labels.targets;
  if (quantities.empty())
    for (const std::string& name : names) quantities.push_back({name});
  const bool is_of_one = !labels.series.empty() && labels_of(*split, ids_.back()).series == labels.series;
  const bool is_named = quantities.size() == truth_.size();
  Plot plot{
      .title = title,
      .subtitle = is_of_one ? labels.series : std::string(),
      .x = rows.axis,
      .y = {.title = labels.targets.empty() ? "target, in the units of the data"
                                            : axis_title(quantities, "target, in the units of the data")}};
  const auto line_of = [&](std::string name, const std::vector<double>& values) {
    return PlotLine{.name = std::move(name), .x = rows.places, .y = last_of(values, rows.places.size())};
  };
  for (std::size_t i = 0; i < truth_.size(); ++i) {
    const bool is_one = truth_.size() == 1;
    const std::string name = !is_named ? "" : (is_one ? quantities[0].name : line_name(quantities, i)) + " ";
    const std::string which = is_one || is_named ? std::string() : text_of(" ", i);
    plot.lines.push_back(line_of(name + "truth" + which, truth_[i]));
    plot.lines.back().broad = true;
    plot.lines.push_back(line_of(name + "prediction" + which, predicted_[i]));
    if (!is_one)  // each target has a color
      for (PlotLine& line : std::span(plot.lines).last(2)) line.color = static_cast<int>(i);
    if (low_[i].empty()) continue;
    const std::vector<double>& levels = loss_.options.levels;
    plot.bands.push_back({.name = text_of("q", levels.front(), " to q", levels.back(), which),
                          .x = rows.places,
                          .low = last_of(low_[i], rows.places.size()),
                          .high = last_of(high_[i], rows.places.size()),
                          .line = plot.lines.size() - 1});
  }
  return plot;
}

}  // namespace lagtape
