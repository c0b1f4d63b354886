#pragma once

#include <span>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/forecast/closed_loop.h"
#include "lagtape/tools/forecast/predicted_targets.h"

namespace lagtape {

/// How quantile models that read their own predictions forecast.
struct PathOptions {
  std::int64_t paths = 200;  ///< number of drawn paths; 0: they read the quantiles nearest to the median
  std::uint64_t seed = 0;
};

/// Stores the forecast of models of the same data in `predicted`: their mean with the lowest and the highest,
/// or quantiles. Throws InputError for models with different outputs.
void put_forecast(PredictedTargets& predicted, std::span<const ForecastModel> models,
                  const ForecastInputs& inputs, const PathOptions& options);

}  // namespace lagtape
