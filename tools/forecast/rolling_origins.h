#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/series/windows.h"
#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

/// The rows of a split by its name: train, valid, test or all.
std::vector<RowRange> rows_of_split(const std::string& split, const SeriesOptions& series,
                                    const Panel& panel);

/// The minimum number of rows before a forecast.
std::int64_t rows_before(const Model& model, const SeriesOptions& series, const Panel& panel,
                         std::int64_t season);

/// For each series, the row before which rows are only for training, [series].
std::vector<RowRange> rows_after_training(const SeriesOptions& series, const Panel& panel,
                                          const std::vector<std::int64_t>& ends);

inline constexpr std::int64_t kMostOrigins = 200, kMostCalibrations = 500, kMostWindows = 20;

/// At most `most` starts of forecasts with this many steps, evenly spaced over parts of a panel. Each has the
/// rows since the last gap before it, at least `before` and at most kMostWindows times as many, including
/// numbers for all columns.
std::vector<ForecastStart> rolling_origins(const Panel& panel, const std::vector<RowRange>& parts,
                                           std::int64_t before, std::int64_t steps,
                                           std::int64_t most = kMostOrigins);

}  // namespace lagtape
