#pragma once

#include <span>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/tools/forecast/model_forecast.h"
#include "lagtape/tools/forecast/rolling_origins.h"

namespace lagtape {

/// Intervals around forecasts that contain the truth with a given probability, by split conformal prediction
/// (Vovk et al. 2005): each step ahead has a margin, a quantile of earlier forecasts' errors, corrected for
/// their number. For quantile models the margin surrounds the pair of levels nearest to the probability (Romano
/// et al. 2019). If there are several series, errors are relative to each one's naive errors.
class ConformalIntervals {
 public:
  /// The margins of forecasts from these starts, whose truth is known. Throws InputError if there are too few
  /// for the level, or if the level is not between 0 and 1.
  ConformalIntervals(std::span<const Model> models, const Panel& panel, const SeriesOptions& series,
                     std::span<const ForecastStart> starts, std::int64_t steps, double level,
                     const PathOptions& paths);

  /// Adds lower and upper bounds to a forecast that starts at a row of the panel.
  void add_to(PredictedTargets& predicted, std::int64_t first) const;

  double level() const { return level_; }
  std::int64_t forecasts() const { return forecasts_; }

 private:
  /// The scale of the errors at a position [steps, targets] of a forecast that starts at a row. The row may be
  /// past the end of its series.
  double scale(std::int64_t row, std::int64_t place) const;

  const Panel& panel_;
  double level_;
  std::int64_t forecasts_;
  std::vector<NaiveErrors> naive_;  ///< [series, targets]; empty: one series
  std::vector<double> margins_;     ///< [steps, targets]
};

/// The minimum number of forecasts for an interval.
std::int64_t least_forecasts(double level);

}  // namespace lagtape
