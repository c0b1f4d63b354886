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

/// The grids of all series. If the options do not fix it, the longest series decides the frequency, which
/// series of one row share. None if every series has one row.
std::vector<GridOfSeries> grids_of(const CsvSource& csv, const std::vector<PanelSeries>& all,
                                   const TimeAxis& axis, const TimeCalendar& calendar);

/// Splits the series where times are missing.
std::vector<RowRange> segments_between(const std::vector<PanelSeries>& all,
                                       const std::vector<GridOfSeries>& grids);

}  // namespace lagtape
