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

Frequency TimeAxis::frequency() const {
  Frequency common = grids.front().grid.frequency();
  for (const SeriesGrid& series : grids) {
    const Frequency& own = series.grid.frequency();
    if (own.anchor != common.anchor) common.anchor = -1;
    if (own.day != common.day) common.day = 0;
  }
  return common;
}

std::string Panel::name_of_input(std::int64_t i) const {
  return lagtape::name_of_input(input_column(i).name, input_at(i).shift);
}

std::int64_t Panel::series_of(std::int64_t row) const {
  return std::ranges::upper_bound(series, row, {}, &PanelSeries::first) - series.begin() - 1;
}

namespace {

/// A copy of some rows of a column.
Column rows_of(const Column& column, const RowRange& rows) {
  Column part{.name = column.name,
              .unit = column.unit,
              .kind = column.kind,
              .role = column.role,
              .values = Tensor({rows.rows}, column.values.dtype()),
              .masks = column.masks,
              .at_time = column.at_time};
  with_scalar(column.values.dtype(), [&]<class T>() {
    const T* from = column.values.values<T>().data() + column.first + rows.first * column.stride;
    T* to = part.values.values<T>().data();
    for (std::int64_t row = 0; row < rows.rows; ++row) to[row] = from[row * column.stride];
  });
  if (!column.filled.empty())
    part.filled.assign(column.filled.begin() + rows.first, column.filled.begin() + rows.end());
  return part;
}

}  // namespace

Panel Panel::only(std::int64_t which) const {
  const PanelSeries& one = series[static_cast<std::size_t>(which)];
  Panel part{.input = input, .target = target, .rows = one.rows, .series = {one}};
  part.series_columns = series_columns;
  part.series.front().first = 0;
  for (const Column& column : columns) part.columns.push_back(rows_of(column, one));
  part.axis = {.format = axis.format,
               .zone = axis.zone,
               .are_days = axis.are_days,
               .has_several_offsets = axis.has_several_offsets};
  if (!axis.times.empty())
    part.axis.times.assign(axis.times.begin() + one.first, axis.times.begin() + one.end());
  if (!axis.grids.empty()) part.axis.grids = {axis.grids[static_cast<std::size_t>(which)]};
  const auto begin = std::ranges::lower_bound(segments, one.first, {}, &RowRange::first);
  for (auto segment = begin; segment != segments.end() && segment->first < one.end(); ++segment)
    part.segments.push_back({segment->first - one.first, segment->rows});
  return part;
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
