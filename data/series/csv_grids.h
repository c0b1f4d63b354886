#pragma once

#include <vector>

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"
#include "lagtape/data/time/find_grid.h"

namespace lagtape {

/// The grid of a series, and whether its rows are on it.
struct GridOfSeries {
  FoundGrid found;
  bool is_even = true;
};

/// The grids of all series. The longest one decides where the options do not; series of one row have its frequency.
/// None where all series have one row.
std::vector<GridOfSeries> grids_of(const CsvSource& csv, const std::vector<PanelSeries>& all,
                                   const TimeAxis& axis, const TimeCalendar& calendar);

/// Divides the series where times are missing.
std::vector<RowRange> segments_between(const std::vector<PanelSeries>& all,
                                       const std::vector<GridOfSeries>& grids);

}  // namespace lagtape
