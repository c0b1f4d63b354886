#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/forecast/predicted_targets.h"

namespace lagtape {

/// Predictions along a recording, each from rows that end `horizon` rows before it. They have the columns
/// "horizon" and, without times, "row".
struct SeriesPrediction : PredictedTargets {
  std::vector<std::int64_t> places = {};  ///< [rows], the predicted rows of the recording, from 0
  std::int64_t horizon = 1;
  std::int64_t series = 1, last_rows = 0;  ///< number of series, and of rows in the last one
  std::string last = {};                   ///< the name of the last one, if series have names
};

/// Predicts all rows of a recording, of each of its series, that a model can predict. Reads the file as the
/// model's experiment specifies (task "series"); a model that reads out at every step runs through each segment
/// without a gap, one that reads out once reads a window before each row. Rows after the end of the file within
/// the horizon are predicted too. `frequency` replaces that of the model's rows. Throws InputError.
SeriesPrediction predict_series(const Model& model, const std::filesystem::path& input, int threads = 1,
                                const std::string& frequency = {});

/// The last predictions, drawn over the truth where it is known.
Plot plot_of(const SeriesPrediction& prediction, const std::string& title);

}  // namespace lagtape
