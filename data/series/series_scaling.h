#pragma once

#include <span>

#include "lagtape/core/normalization.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The scaling of some columns of a panel, based on some of its rows. Columns that are not measured numbers are
/// unchanged.
Scaling scaling_of_rows(const Panel& panel, std::span<const RowRange> rows,
                        const std::vector<std::int64_t>& columns);

/// The normalization of one series based on some of its rows; `all` is the one for all series. Static columns,
/// which distinguish series, keep the scaling of `all`, as do columns that are not measured numbers, and an
/// empty scaling. A constant column is scaled by its size, counts by 1 + their mean. Means and scales are
/// rounded to the digits that matter, so files with many series stay small. If the options set one scaling for
/// all series, it is kept.
Normalization normalization_of_series(const SeriesOptions& options, const Panel& panel,
                                      std::span<const RowRange> rows, const Normalization& all);

/// The first rows of a new series, which determine its scaling; predictions start after them.
RowRange scaling_rows(const RowRange& series, const SeriesOptions& options);

}  // namespace lagtape
