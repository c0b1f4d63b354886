#include "lagtape/data/series/naive_errors.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

std::int64_t season_of(const TimeAxis& axis, std::int64_t given) {
  if (given > 0) return given;
  if (axis.season > 0) return axis.season;
  if (axis.grids.empty() || !axis.grids.front().is_even) return 0;
  const Frequency& frequency = axis.grids.front().grid.frequency();
  const bool is_time =
      frequency.unit == Frequency::Unit::nanosecond || frequency.unit == Frequency::Unit::local;
  if (is_time && frequency.count < kOneDay)
    return kOneDay % frequency.count == 0 ? kOneDay / frequency.count : 0;
  const std::vector<std::int64_t> seasons = frequency.seasons();
  return seasons.empty() ? 0 : seasons.front();
}

NaiveErrors naive_errors(const Column& column, std::span<const RowRange> parts, std::int64_t season) {
  double absolute = 0, squared = 0, count = 0;
  for (const RowRange& part : parts)
    for (std::int64_t row = part.first + season; row < part.end(); ++row) {
      const double error = column.measured(row) - column.measured(row - season);
      if (std::isnan(error)) continue;
      absolute += std::abs(error);
      squared += error * error;
      count += 1;
    }
  return {absolute / count, squared / count};
}

std::vector<NaiveErrors> naive_errors(const Panel& panel, std::span<const RowRange> training) {
  const std::int64_t season = std::max<std::int64_t>(season_of(panel.axis, 0), 1);
  const auto parts_in = [](const RowRange& series, std::span<const RowRange> parts) {
    const auto begin = std::ranges::lower_bound(parts, series.first, {}, &RowRange::first);
    const auto end = std::ranges::lower_bound(parts, series.end(), {}, &RowRange::first);
    return std::span(begin, end);
  };
  std::vector<NaiveErrors> errors;
  for (const RowRange& series : panel.series) {
    std::span<const RowRange> parts = parts_in(series, training);
    if (parts.empty()) parts = parts_in(series, panel.segments);
    for (std::int64_t i = 0; i < std::ssize(panel.target); ++i)
      errors.push_back(naive_errors(panel.target_column(i), parts, season));
  }
  return errors;
}

}  // namespace lagtape
