#pragma once

#include <span>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The number of rows in a period: as given, else a day for rows that divide it, or the calendar's period: a
/// week of days, a year of months; 0 if none is known.
std::int64_t season_of(const TimeAxis& axis, std::int64_t given);

/// The errors in some rows, each compared with the row `season` rows before it in the same range. Unmeasured
/// numbers are not compared.
NaiveErrors naive_errors(const Column& column, std::span<const RowRange> parts, std::int64_t season);

/// The errors for the targets of each series, [series * targets], in the given ascending training rows, or in
/// all rows of a series without any. The season comes from the times; it is 1 if none is known.
std::vector<NaiveErrors> naive_errors(const Panel& panel, std::span<const RowRange> training);

}  // namespace lagtape
