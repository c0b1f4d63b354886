#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/forecast/forecast_length.h"
#include "lagtape/tools/forecast/forecast_shape.h"

namespace lagtape {

class Json;

struct HorizonOptions {
  ForecastLength steps = 1;
  std::string split = "test";  ///< train, valid, test or all: where the forecasts start
  std::string path = {};       ///< a recording that replaces the model's own; empty: the model's
  std::string frequency = {};  ///< replaces the frequency of the model's rows, such as "any"
  std::int64_t season = 0;     ///< as for season_of
  /// The probability of intervals derived from forecast errors in the validation rows; empty: none.
  std::optional<double> interval = {};
};

/// The errors of the forecasts of a model, or of a baseline.
struct HorizonErrors {
  std::string key, name;                     ///< "persistence", "last value"
  Tensor rmse, mae;                          ///< [steps, targets], in the units of the data
  std::vector<std::vector<double>> overall;  ///< by target: kHorizonMetrics over all steps
};

/// The metrics over all steps, named as in tools/train/score.
inline constexpr const char* kHorizonMetrics[] = {"rmse", "mae", "mase", "smape", "rmsse"};

/// The coverage of intervals.
struct IntervalScores {
  double level = 0;  ///< the nominal coverage
  std::int64_t calibrations =
      0;                 ///< forecasts whose errors they come from; 0: from the model's own quantiles
  Tensor coverage = {};  ///< [steps, targets]
  std::vector<double> overall = {},
                      width = {};  ///< by target, over all steps: the coverage, and the mean width
};

/// How a model compares with the best baseline.
struct HorizonVerdict {
  std::size_t measure = 0;  ///< the index of the metric that decides
  std::size_t best = 0;     ///< the index of the best baseline among the errors
  /// ratio of the model's error to the baseline's; the geometric mean if there are several targets
  double ratio = 0;
};

/// The errors of the forecasts of one series.
struct HorizonOfSeries {
  std::string name;
  std::int64_t origins = 0;
  std::vector<HorizonErrors> errors = {};
};

/// Errors of closed-loop forecasts and of baselines from the same rows, by number of steps ahead.
struct HorizonScores {
  std::vector<std::string> targets;
  std::int64_t origins = 0;           ///< number of forecasts
  std::int64_t season = 0;            ///< rows in a period; 0: unknown
  std::vector<HorizonErrors> errors;  ///< the model's, then each baseline's
  HorizonVerdict verdict;
  std::vector<IntervalScores> intervals = {};  ///< for the model's own quantiles, and for conformal ones
  /// By target, for a quantile model: the mean pinball loss over all levels, in the units of the data.
  std::vector<double> pinball = {};
  std::vector<ForecastShape> shapes = {};  ///< statistics of the model's forecasts, by target
  /// The errors of each series in which a forecast starts; empty unless series have names.
  std::vector<HorizonOfSeries> series = {};
  /// Columns that are known only up to the forecast's start, but were read after it.
  std::vector<std::string> read_later = {};
};

/// Forecasts `steps` steps from at most kMostOrigins evenly spaced rows of a split, each time from the
/// preceding rows (at most 20 windows of them, since the last gap), and compares the forecasts with the
/// recording. Inputs that are not predicted come from the recording. Where it has missing numbers, there is no
/// truth. Throws InputError.
HorizonScores score_horizons(const Model& model, const HorizonOptions& options);

/// All scores by target, and the best baseline.
Json json_of(const HorizonScores& scores);

/// The errors by number of steps ahead, one line each.
Plot plot_of(const HorizonScores& scores, const std::string& title);

}  // namespace lagtape
