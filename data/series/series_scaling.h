#pragma once

#include <span>

#include "lagtape/core/normalization.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The scaling of some columns of a panel by some of its rows. Columns that are not measured numbers stay as they are.
Scaling scaling_of_rows(const Panel& panel, std::span<const RowRange> rows,
                        const std::vector<std::int64_t>& columns);

/// The normalization of one series by some of its rows, where `all` is that of all series. Static columns, in which
/// series differ, keep the scaling of all, as do columns that are not measured numbers, and an empty scaling. A
/// constant column is scaled by its size, counts by 1 + their mean. Means and scales are rounded to the digits that
/// matter, so that files of many series are small. If the options give all series one scaling, that stays.
Normalization normalization_of_series(const SeriesOptions& options, const Panel& panel,
                                      std::span<const RowRange> rows, const Normalization& all);

/// The first rows of a new series, which scale it; predictions begin after them.
RowRange scaling_rows(const RowRange& series, const SeriesOptions& options);

}  // namespace lagtape
