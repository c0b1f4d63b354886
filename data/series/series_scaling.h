#pragma once

#include <span>

#include "lagtape/core/normalization.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The scaling of some columns of a panel by some of its rows. Columns that are no measured numbers stay as they are.
Scaling scaling_of_rows(const Panel& panel, std::span<const RowRange> rows,
                        const std::vector<std::int64_t>& columns);

/// The normalization of one series by some of its rows, where `all` is that of all series. Static columns, which say in what
/// series differ, keep the scaling of all, as do columns that are no measured numbers, and an empty scaling. A constant
/// column is scaled by its size, counts by 1 + their mean. Means and scales are rounded to what matters, so that files of many series are small. Where the
/// options say that all series have one scaling, that of all stays.
Normalization normalization_of_series(const SeriesOptions& options, const Panel& panel,
                                      std::span<const RowRange> rows, const Normalization& all);

/// The first rows of a series that no model has seen: they scale it, and predictions begin behind them.
RowRange scaling_rows(const RowRange& series, const SeriesOptions& options);

}  // namespace lagtape
