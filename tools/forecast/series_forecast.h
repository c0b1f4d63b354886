#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/forecast/forecast_length.h"
#include "lagtape/tools/forecast/model_forecast.h"

namespace lagtape {

struct SeriesForecastOptions {
  std::filesystem::path input;        ///< a file like the one on which the model was trained
  std::filesystem::path future = {};  ///< the following rows, with the inputs that are known ahead
  std::string frequency = {};         ///< replaces the frequency of the model's rows, such as "any"
  ForecastLength steps = 1;
  /// The time of the first prediction, or its row: from 0, or "-48" for 48 rows before the end of the targets.
  /// Empty: right after the last row.
  std::string from = {};
  std::int64_t season =
      0;  ///< steps in a period, for the seasonal naive forecast; 0: a day, if rows have dates
  PathOptions paths = {};
  /// The probability of an interval around each prediction, from the errors of earlier forecasts in the file,
  /// over all its series; empty: none.
  std::optional<double> interval = {};
  std::vector<std::string> series = {};  ///< the names of the series to forecast; empty: all
};

/// A forecast of a recording's targets, one row per step, with the column "step" from 1.
struct SeriesForecast : PredictedTargets {
  std::string name = {};                 ///< name of the series; empty: the file has a single unnamed series
  std::int64_t first = 0;                ///< the row of the series at which the forecast starts
  Tensor past;                           ///< [rows, targets] before the first prediction
  std::vector<Instant> past_times = {};  ///< [rows]; empty without times
  std::int64_t season = 0;               ///< steps in a period; 0: unknown
  std::int64_t window = 0;               ///< length of the sequences on which the model was trained
  /// number of earlier forecasts from whose errors the interval is derived
  std::int64_t compared = 0;
  /// Seconds between forecast times if the rows' times are uneven; 0: they are even, or may be any.
  double usual_step = 0;
  /// Columns that are known only up to the first prediction, but were read after it.
  std::vector<std::string> read_later = {};
  /// Notes about `SeriesForecastOptions::future` for the user; stored with the first of several series.
  std::vector<std::string> notes = {};

  std::int64_t steps() const { return rows(); }
};

/// Forecasts of all series of a file, in its order, with one or several models of the same data. Reads the file
/// as the first model's experiment specifies (task "series"), runs the models over the segment before the first
/// prediction, and then lets each continue from its own predictions. Quantile models continue from numbers
/// drawn from them, on many paths, and the result is the paths' quantiles; without paths, each step's quantiles
/// after the medians. Inputs that are not predicted must be known: from the time, from rows of the file whose
/// targets are missing or later than `from`, or from the file `future`. A series that the models have not seen
/// is scaled by its rows before the first prediction. Intervals come from forecasts that start in the rows
/// after the training share of each series and end before its first prediction. Throws InputError.
std::vector<SeriesForecast> forecast_series(std::span<const Model> models,
                                            const SeriesForecastOptions& options);

/// Errors of a forecast where the truth is known, compared with forecasts that need no model.
struct ForecastScores {
  std::int64_t known = 0;  ///< number of steps whose truth is known
  double rmse = 0;
  double persistence = 0;  ///< root mean squared error of repeating the last known value
  double seasonal = 0;     ///< that of repeating the value from one season earlier; NaN without a season
};

/// The scores of one target. All are NaN if no truth is known.
ForecastScores scores_of(const SeriesForecast& forecast, std::int64_t target);
/// The scores over several series together.
ForecastScores scores_of(std::span<const SeriesForecast> forecasts, std::int64_t target);

/// The forecasts of all series, one below the other.
PredictedTargets joined(std::span<const SeriesForecast> forecasts);

/// The forecast with its intervals, the truth where it is known, and the end of the past.
Plot plot_of(const SeriesForecast& forecast, const std::string& title);
/// The same for the first of several series, at most kMostDrawn of them.
Plot plot_of(std::span<const SeriesForecast> forecasts, const std::string& title);
inline constexpr std::int64_t kMostDrawn = 3;

}  // namespace lagtape
