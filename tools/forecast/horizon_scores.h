#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/forecast/forecast_length.h"

namespace lagtape {

struct HorizonOptions {
  ForecastLength steps = 1;
  std::string split = "test";  ///< train, valid, test or all: where the forecasts begin
  std::string path = {};       ///< a recording in place of the model's own; empty: that
  std::string frequency = {};  ///< replaces that of the model's rows, such as "any"
  std::int64_t season = 0;     ///< as for season_of
};

/// Root mean squared errors of closed-loop forecasts, by how many steps ahead they look.
struct HorizonScores {
  std::vector<std::string> targets;
  std::int64_t origins = 0;  ///< number of forecasts
  std::int64_t season = 0;   ///< rows of a period; 0: none is known
  Tensor model = {};         ///< [steps, targets], in the units of the data
  Tensor persistence = {};   ///< the same of the last value before the forecast
  Tensor seasonal = {};      ///< the same of the value a season before; empty without a season
  /// Columns that are known up to an origin alone, and were read after it.
  std::vector<std::string> read_later = {};
};

/// Forecasts `steps` steps from at most 200 rows of a split, evenly spaced, each time from the rows before it (at
/// most 20 windows of them, since the last gap), and compares the forecasts with the recording. Inputs that are not
/// predicted are taken from the recording. What is missing there is no truth. Throws InputError.
HorizonScores score_horizons(const Model& model, const HorizonOptions& options);

/// The errors by the number of steps ahead, a line each.
Plot plot_of(const HorizonScores& scores, const std::string& title);

}  // namespace lagtape
