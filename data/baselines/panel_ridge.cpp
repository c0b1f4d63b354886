#include "lagtape/data/baselines/panel_ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/data/moments.h"

namespace lagtape {

namespace {

constexpr std::int64_t kMostLagged = 240;  // past numbers that a regression reads
constexpr std::int64_t kMostAhead = 240;
constexpr std::int64_t kUsualLags = 24;  // without a season
constexpr double kMostProducts = 2e9;    // a second or two
constexpr double kLeastRows = 10;

/// The gap-free part of the panel that contains a row.
const RowRange& segment_of(const Panel& panel, std::int64_t row) {
  return *(std::ranges::upper_bound(panel.segments, row, {}, &RowRange::first) - 1);
}

}  // namespace

void PanelRidge::choose_columns(const SeriesOptions& options, std::int64_t season, std::int64_t reach) {
  lagged_ = panel_->target;
  for (const PanelInput& input : panel_->input) {
    const Column& column = panel_->column(input.column);
    if (column.kind == ColumnKind::mask || column.role == ColumnRole::fixed) continue;
    // A nowcast's inputs are known for the row that it predicts.
    const bool is_ahead =
        column.role == ColumnRole::future || (column.role == ColumnRole::past && options.horizon == 0);
    const auto add_to = [&](std::vector<std::int64_t>& columns) {
      if (std::ranges::find(columns, input.column) == columns.end()) columns.push_back(input.column);
    };
    if (is_ahead) add_to(ahead_);
    if (column.kind != ColumnKind::calendar) add_to(lagged_);
  }
  lags_ = std::min({reach, std::max(2 * season, kUsualLags),
                    kMostLagged / std::max<std::int64_t>(std::ssize(lagged_), 1)});
  season_ = season > lags_ && season <= reach ? season : 0;
}

RegressionSizes PanelRidge::sizes() const {
  const std::int64_t targets = std::ssize(panel_->target);
  return {.shared = lags_ * std::ssize(lagged_),
          .own = std::ssize(ahead_) + (season_ > 0 ? targets : 0),
          .targets = targets,
          .steps = steps_};
}

void PanelRidge::find_scales(std::span<const SeriesSplit> splits, const SeriesOptions& options) {
  const bool by_series = options.split == SplitBy::time && panel_->series.size() > 1;
  Moments all(std::ssize(panel_->columns));
  std::vector<Moments> moments(by_series ? panel_->series.size() : 0, all);
  std::vector<bool> has_rows(moments.size());
  for (const RowRange& segment : splits.front().segments)
    for (std::int64_t row = segment.first; row < segment.end(); ++row) {
      const auto value = [&](std::size_t i) { return panel_->columns[i].at(row); };
      all.add(value);
      if (!by_series) continue;
      const auto series = static_cast<std::size_t>(panel_->series_of(row));
      moments[series].add(value);
      has_rows[series] = true;
    }
  for (std::size_t i = 0; i < moments.size(); ++i)
    scaling_.push_back((has_rows[i] ? moments[i] : all).standard());
  if (!by_series) scaling_.push_back(all.standard());
}

const Scaling& PanelRidge::scaling(std::int64_t row) const {
  return scaling_.size() == 1 ? scaling_.front() : scaling_[static_cast<std::size_t>(panel_->series_of(row))];
}

void PanelRidge::read(std::int64_t row, const NumberAt& number_at, std::vector<double>& shared,
                      std::vector<double>& own) const {
  const Scaling& scaling = this->scaling(row - 1);
  const auto number = [&](std::int64_t column, std::int64_t at) {
    return scaling.normalized(number_at(column, at), static_cast<std::size_t>(column));
  };
  shared.clear();
  own.clear();
  for (const std::int64_t column : lagged_)
    for (std::int64_t lag = 1; lag <= lags_; ++lag) shared.push_back(number(column, row - lag));
  for (std::int64_t step = 0; step < steps_; ++step) {
    for (const std::int64_t column : ahead_) own.push_back(number(column, row + step));
    if (season_ > 0)
      for (const std::int64_t column : panel_->target)
        own.push_back(number(column, row - season_ + step % season_));
  }
}

StepProducts PanelRidge::products(const SeriesSplit& split, std::int64_t every) const {
  StepProducts products(sizes());
  const std::int64_t reach = std::max(lags_, season_);
  std::vector<double> shared, own, targets;
  std::int64_t seen = 0;
  for (const RowRange& part : split.segments) {
    const RowRange& segment = segment_of(*panel_, part.first);
    const NumberAt number_at = [&](std::int64_t column, std::int64_t row) {
      return row < part.end() ? panel_->column(column).at(row) : std::numeric_limits<double>::quiet_NaN();
    };
    for (std::int64_t row = std::max(part.first, segment.first + reach); row < part.end(); ++row) {
      if (seen++ % every != 0) continue;
      read(row, number_at, shared, own);
      const Scaling& scaling = this->scaling(row);
      targets.clear();
      for (std::int64_t step = 0; step < steps_; ++step)
        for (const std::int64_t target : panel_->target)
          targets.push_back(row + step < part.end()
                                ? scaling.normalized(panel_->column(target).measured(row + step),
                                                     static_cast<std::size_t>(target))
                                : std::numeric_limits<double>::quiet_NaN());
      if (std::ranges::none_of(shared, [](double value) { return std::isnan(value); }))
        products.add(shared.data(), own.data(), targets.data());
    }
  }
  return products;
}

std::optional<PanelRidge> PanelRidge::fit(const Panel& panel, const SeriesOptions& options,
                                          std::span<const SeriesSplit> splits, std::int64_t steps,
                                          std::int64_t season, std::int64_t reach) {
  PanelRidge ridge;
  ridge.panel_ = &panel;
  ridge.steps_ = steps;
  ridge.choose_columns(options, season, reach);
  if (ridge.lags_ < 1 || std::ssize(ridge.ahead_) > kMostAhead) return std::nullopt;
  ridge.find_scales(splits, options);
  const RegressionSizes sizes = ridge.sizes();
  const double rest = static_cast<double>(sizes.own + sizes.targets),
               all = static_cast<double>(sizes.features());
  const double cost = all * all / 2 + static_cast<double>(steps) * rest * (all + rest);
  const auto products = [&](const SeriesSplit& split) {
    return ridge.products(
        split, 1 + static_cast<std::int64_t>(static_cast<double>(split.rows) * cost / kMostProducts));
  };
  const StepProducts train = products(splits[0]);
  for (std::int64_t step = 0; step < steps; ++step)
    if (train.rows(step) < kLeastRows) return std::nullopt;
  ridge.regressions_.emplace(train, products(splits[1]));
  return ridge;
}

std::vector<double> PanelRidge::forecast(std::int64_t row, const NumberAt& number_at) const {
  std::vector<double> shared, own, forecast;
  read(row, number_at, shared, own);
  const Scaling& scaling = this->scaling(row - 1);
  const std::int64_t width = std::ssize(own) / steps_;
  for (std::int64_t step = 0; step < steps_; ++step)
    for (std::int64_t i = 0; i < std::ssize(panel_->target); ++i) {
      const double predicted = regressions_->predict(shared.data(), own.data() + step * width, step, i);
      forecast.push_back(
          scaling.restored(predicted, static_cast<std::size_t>(panel_->target[static_cast<std::size_t>(i)])));
    }
  return forecast;
}

}  // namespace lagtape
