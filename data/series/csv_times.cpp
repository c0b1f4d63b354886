#include "lagtape/data/series/csv_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

/// Reads the column of times, and puts the rows in their order.
TimeAxis read_axis(CsvSource& csv, std::int64_t column) {
  TimeAxis axis;
  for (std::int64_t row = 0; row < csv.rows(); ++row) {
    const std::string_view text = csv.cell(row, column);
    const std::optional<double> number = parse_number(text);
    const std::optional<ReadTime> date = number ? std::nullopt : read_time(text);
    if (!date && !(number && std::abs(*number) <= kLatestTime)) {
      throw InputError(Problem{.place = csv.place(row, column),
                               .rule = Rule::syntax,
                               .found = quote(text, 40),
                               .expected = "a date such as 2024-01-31 13:00, or seconds since 1970"});
    }
    axis.times.push_back(date ? seconds_of(date->time) : *number);
    const std::optional<double> offset = date ? date->offset : std::nullopt;
    if (row == 0) axis.has_dates = date.has_value();
    if (row == 0) axis.offset = offset;
    axis.has_offsets = axis.has_offsets || offset.has_value();
    if (offset != axis.offset) axis.offset = {};
  }
  csv.order.resize(axis.times.size());
  std::iota(csv.order.begin(), csv.order.end(), 0);
  const auto time_of = [&](std::int64_t row) { return axis.times[static_cast<std::size_t>(row)]; };
  const auto last = std::max_element(axis.times.begin(), axis.times.begin() + csv.table.rows());
  std::erase_if(csv.order,
                [&](std::int64_t row) { return row >= csv.table.rows() && time_of(row) <= *last; });
  std::ranges::stable_sort(csv.order, {}, time_of);
  std::vector<double> sorted;
  for (const std::int64_t row : csv.order) sorted.push_back(time_of(row));
  axis.times = std::move(sorted);
  for (std::int64_t row = 1; row < csv.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    if (axis.times[i] != axis.times[i - 1]) continue;
    throw InputError(
        {csv.table.where()}, Rule::conflict,
        text_of("lines ", csv.line(row - 1), " and ", csv.line(row), ": both are of ", csv.cell(row, column),
                ", expected one row for each time. Where clocks are set back, an offset tells "
                "such hours apart, as in 2024-10-27T02:00+01:00."));
  }
  return axis;
}

/// Finds the interval of the rows, and divides them where times are missing.
std::vector<RowRange> divide_at_gaps(TimeAxis& axis) {
  const std::vector<double>& times = axis.times;
  std::vector<double> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  std::ranges::nth_element(steps, steps.begin() + std::ssize(steps) / 2);
  axis.interval = steps[steps.size() / 2];
  std::vector<RowRange> segments = {{0, 1}};
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] - times[i - 1] > 1.5 * axis.interval) segments.push_back({static_cast<std::int64_t>(i), 0});
    segments.back().rows += 1;
  }
  return segments;
}

}  // namespace

void read_times(CsvSource& csv, Panel& panel) {
  const std::int64_t column = csv.time_column();
  panel.axis = read_axis(csv, column);
  if (csv.rows() > 1) {
    std::vector<RowRange> segments = divide_at_gaps(panel.axis);
    std::string note = text_of(csv.rows(), " rows, one every ", panel.axis.interval, " s");
    if (segments.size() > 1)
      note += text_of(", with ", segments.size() - 1,
                      segments.size() == 2 ? " gap, before " : " gaps, the first before ",
                      csv.cell(segments[1].first, column),
                      csv.options.across_gaps ? "; windows reach over them (across_gaps)"
                                              : "; no window reaches over one");
    panel.notes.push_back(note);
    if (!csv.options.across_gaps) panel.segments = std::move(segments);
  }
  if (!std::ranges::is_sorted(csv.order)) panel.notes.emplace_back("rows were sorted by time");
}

}  // namespace lagtape
