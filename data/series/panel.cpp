#include "lagtape/data/series/panel.h"

#include <algorithm>

namespace lagtape {

std::string PanelSeries::name() const {
  std::string name;
  for (const std::string& part : id) name += (name.empty() ? "" : "/") + part;
  return name;
}

bool TimeAxis::are_dates() const {
  constexpr Instant kNear = 365 * kOneDay;
  return !times.empty() && !(format.count() && times.front() > -kNear && times.front() < kNear);
}

std::string Panel::name_of_input(std::int64_t i) const {
  return lagtape::name_of_input(input_column(i).name, input_at(i).shift);
}

std::int64_t Panel::series_of(std::int64_t row) const {
  return std::ranges::upper_bound(series, row, {}, &PanelSeries::first) - series.begin() - 1;
}

Instant Panel::time_of(std::int64_t row, std::int64_t end) const {
  if (row < end) return axis.times[static_cast<std::size_t>(row)];
  const SeriesGrid& grid = axis.grids[static_cast<std::size_t>(series_of(end - 1))];
  return grid.after(axis.times[static_cast<std::size_t>(end - 1)], row - end + 1);
}

std::int64_t Panel::lead() const {
  std::int64_t lead = 0;
  for (const PanelInput& one : input) lead = std::max(lead, -one.shift);
  return lead;
}

void Panel::add_input(std::int64_t column, const SeriesOptions& options) {
  for (const std::int64_t shift : options.shifts_of(this->column(column).role))
    input.push_back({column, shift});
}

}  // namespace lagtape
