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
  std::filesystem::path input;        ///< a file like the one that the model was trained on
  std::filesystem::path future = {};  ///< rows that follow, with the inputs that are known ahead
  std::string frequency = {};         ///< instead of the frequency of the model's rows, such as "any"
  ForecastLength steps = 1;
  /// The time of the first prediction, or its row: from 0, or "-48" for 48 rows before the end of the targets. Empty: the one
  /// after the last row.
  std::string from = {};
  std::int64_t season =
      0;  ///< steps of a period, for the seasonal naive forecast; 0: a day, where rows have dates
  PathOptions paths = {};
  /// The probability of an interval around each prediction, from the errors of earlier forecasts in the file, of all
  /// its series; empty: none.
  std::optional<double> interval = {};
  std::vector<std::string> series = {};  ///< the names of the series that are forecast; empty: all
};

/// A forecast of the targets of a recording, a row a step, with the column "step" from 1.
struct SeriesForecast : PredictedTargets {
  std::string name = {};                 ///< name of the series; empty: the file has one, without a name
  std::int64_t first = 0;                ///< the row of the series at which the forecast begins
  Tensor past;                           ///< [rows, targets] before the first prediction
  std::vector<Instant> past_times = {};  ///< [rows]; empty without times
  std::int64_t season = 0;               ///< steps of a period; 0: none is known
  std::int64_t window = 0;               ///< steps of the sequences that the model was trained on
  std::int64_t compared = 0;             ///< earlier forecasts whose errors the interval comes from
  /// Seconds from one time of the forecast to the next, where those of the rows are not even; 0: they are, or may be any.
  double usual_step = 0;
  /// Columns that are known only up to the first prediction, and were read after it.
  std::vector<std::string> read_later = {};
  /// Notes on `SeriesForecastOptions::future` for the user; with the first of several series.
  std::vector<std::string> notes = {};

  std::int64_t steps() const { return rows(); }
};

/// Forecasts of all series of a file, in its order, with one model, or with several of the same data. Reads the file as
/// the first model's experiment says (task "series"), runs the models over the segment before the first prediction, and
/// then lets each continue from its own predictions. Models of quantiles continue from numbers that are drawn from
/// them, on many paths, and the result is the quantiles of the paths; without paths, the quantiles of each step after
/// the medians. Inputs that are not predicted must be known: from the time, from rows of the file whose targets are
/// missing or later than `from`, or from those of the file `future`. A series that the models have not seen is scaled
/// by its rows before the first prediction. Intervals come from forecasts that begin in the rows after the training
/// share of each series and end before its first prediction. Throws InputError.
std::vector<SeriesForecast> forecast_series(std::span<const Model> models,
                                            const SeriesForecastOptions& options);

/// Errors of a forecast where the truth is known, beside those of forecasts that need no model.
struct ForecastScores {
  std::int64_t known = 0;  ///< number of steps whose truth is known
  double rmse = 0;
  double persistence = 0;  ///< root mean squared error of the last known value
  double seasonal = 0;     ///< that of the value of one season before; NaN without a season
};

/// The scores of one target. All are NaN when no truth is known.
ForecastScores scores_of(const SeriesForecast& forecast, std::int64_t target);
/// The scores over several series together.
ForecastScores scores_of(std::span<const SeriesForecast> forecasts, std::int64_t target);

/// The forecasts of all series, one below the other.
PredictedTargets joined(std::span<const SeriesForecast> forecasts);

/// The forecast with its intervals, the truth where it is known, and the last of the past.
Plot plot_of(const SeriesForecast& forecast, const std::string& title);
/// The same of the first of several series, at most kMostDrawn of them.
Plot plot_of(std::span<const SeriesForecast> forecasts, const std::string& title);
inline constexpr std::int64_t kMostDrawn = 3;

}  // namespace lagtape
