#pragma once

#include <span>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The rows of a period: as given, else a day for rows that divide it, or the period of the calendar: a week of days, a
/// year of months; 0 when none is known.
std::int64_t season_of(const TimeAxis& axis, std::int64_t given);

/// The errors in some rows, each of which is compared with the row `season` rows before it in the same range. Numbers
/// that were not measured are not compared.
NaiveErrors naive_errors(const Column& column, std::span<const RowRange> parts, std::int64_t season);

/// The errors for the targets of each series, [series * targets], in the given training rows, which are in their order;
/// of a series without any, in all its rows. The season is that of the times, 1 when none is known.
std::vector<NaiveErrors> naive_errors(const Panel& panel, std::span<const RowRange> training);

}  // namespace lagtape
