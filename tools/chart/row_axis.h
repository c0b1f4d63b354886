#pragma once

#include <span>
#include <string>
#include <vector>

#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// An axis for the rows of a table, and the position of each row on it.
struct RowAxis {
  PlotAxis axis;
  std::vector<double> places;
};

/// Rows by time: dates on the clock, or seconds if there is none.
RowAxis axis_of_times(std::span<const Instant> times, const std::optional<TimeZone>& clock);
/// Rows by number, starting with `first`.
RowAxis axis_of_numbers(std::string title, std::int64_t first, std::int64_t rows);

/// Breaks the lines and bands of a chart, which have the same rows, before each of these rows.
void break_before(Plot& plot, const std::vector<std::size_t>& rows);

}  // namespace lagtape
