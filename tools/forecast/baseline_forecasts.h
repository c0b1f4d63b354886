#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

/// A forecast without a network: all targets, [steps, targets], from the rows before its start.
struct BaselineForecast {
  std::string key;   ///< "ridge"
  std::string name;  ///< "ridge regression"
  std::function<std::vector<double>(const ForecastStart& start)> forecast;
};

struct BaselineOptions {
  std::int64_t steps = 1;
  std::int64_t season = 0;   ///< rows in a period; 0: unknown
  std::int64_t before = 1;   ///< rows before every start
  bool has_training = true;  ///< the training rows are separate from the forecast rows
};

/// The last value, the value one season earlier, Theta and, if there are training rows to fit it on, a ridge
/// regression. They refer to the panel.
std::vector<BaselineForecast> baseline_forecasts(const Panel& panel, const SeriesOptions& series,
                                                 const BaselineOptions& options);

}  // namespace lagtape
