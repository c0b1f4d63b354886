#include "lagtape/tools/forecast/conformal.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/series/naive_errors.h"

namespace lagtape {

namespace {

/// The bounds of a forecast that a margin goes around: the prediction, or two quantiles.
std::pair<const Tensor*, const Tensor*> bounds_of(const PredictedTargets& predicted, double level) {
  std::pair<const Tensor*, const Tensor*> bounds = {&predicted.prediction, &predicted.prediction};
  const std::vector<double>& levels = predicted.levels;
  double least = 1;
  for (std::size_t low = 0; low < levels.size() / 2; ++low) {
    const std::size_t high = levels.size() - 1 - low;
    const double distance = std::abs(levels[high] - levels[low] - level);
    if (distance >= least) continue;
    least = distance;
    bounds = {&predicted.quantiles[low], &predicted.quantiles[high]};
  }
  return bounds;
}

}  // namespace

std::int64_t least_forecasts(double level) {
  constexpr double kRounding = 1e-9;
  return static_cast<std::int64_t>(std::ceil(level / (1 - level) - kRounding));
}

double ConformalIntervals::scale(std::int64_t row, std::int64_t place) const {
  if (naive_.empty()) return 1;
  const std::int64_t width = std::ssize(panel_.target);
  const double naive =
      naive_[static_cast<std::size_t>(panel_.series_of(row - 1) * width + place % width)].absolute;
  return naive > 0 ? naive : 1;
}

ConformalIntervals::ConformalIntervals(std::span<const Model> models, const Panel& panel,
                                       const SeriesOptions& series, std::span<const ForecastStart> starts,
                                       std::int64_t steps, double level, const PathOptions& paths)
    : panel_(panel), level_(level), forecasts_(std::ssize(starts)) {
  if (!(level > 0 && level < 1))
    throw unexpected({.item = "--interval"}, Rule::out_of_range,
                     "a probability above 0 and below 1, such as 0.9", text_of(level));
  if (panel.series.size() > 1) naive_ = naive_errors(panel, split_panel(series, panel).front().segments);
  const std::int64_t width = std::ssize(panel.target), count = steps * width;
  std::vector<std::vector<double>> errors(static_cast<std::size_t>(count));
  const std::vector<ForecastModel> ready(models.begin(), models.end());
  for (const ForecastStart& start : starts) {
    PredictedTargets predicted;
    for (const std::int64_t column : panel.target) predicted.targets.push_back(panel.column(column).name);
    put_forecast(predicted, ready, forecast_inputs(panel, start, steps, series, models.front().loss()),
                 paths);
    const auto [low, high] = bounds_of(predicted, level);
    for (std::int64_t i = 0; i < count; ++i) {
      const double truth = panel.target_column(i % width).measured(start.first + i / width);
      if (!std::isnan(truth))
        errors[static_cast<std::size_t>(i)].push_back(std::max(low->at(i) - truth, truth - high->at(i)) /
                                                      scale(start.first, i));
    }
  }
  for (std::vector<double>& of_place : errors) {
    constexpr double kRounding = 1e-9;
    const auto rank =
        static_cast<std::int64_t>(std::ceil((static_cast<double>(of_place.size()) + 1) * level - kRounding));
    if (rank > std::ssize(of_place))
      throw InputError(
          {.item = "--interval"}, Rule::missing,
          text_of("an interval of ", level, " needs at least ", least_forecasts(level),
                  " earlier forecasts whose truth is known, from rows after those of the training. "
                  "There are ",
                  of_place.size()),
          {}, "Give a longer recording, fewer steps or a lower probability.");
    const auto nth = of_place.begin() + (rank - 1);
    std::ranges::nth_element(of_place, nth);
    margins_.push_back(*nth);
  }
}

void ConformalIntervals::add_to(PredictedTargets& predicted, std::int64_t first) const {
  const auto [low, high] = bounds_of(predicted, level_);
  predicted.interval = level_;
  predicted.lower = Tensor(predicted.prediction.shape(), predicted.prediction.dtype());
  predicted.upper = predicted.lower.clone();
  for (std::int64_t i = 0; i < predicted.lower.numel(); ++i) {
    const double margin = margins_[static_cast<std::size_t>(i)] * scale(first, i);
    // A negative margin that is wider than the quantiles leaves their middle.
    const double middle = (low->at(i) + high->at(i)) / 2;
    predicted.lower.set(i, std::min(low->at(i) - margin, middle));
    predicted.upper.set(i, std::max(high->at(i) + margin, middle));
  }
}

}  // namespace lagtape
