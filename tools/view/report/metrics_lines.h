#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape::report {

/// The complete lines of a run's metrics.jsonl; none if there is no file. Throws InputError for a line that is
/// not a JSON object, or whose epoch or step is not a number.
std::vector<Json> lines_of(const std::filesystem::path& file);

/// The learning curves of a run: the losses on one chart, and a chart for each metric. Losses have logarithmic axes.
std::vector<Plot> learning_curves(const std::vector<Json>& lines);

/// The norms of the parameters during training, one line for each; none if the run did not record them
/// (TrainOptions::weight_norms).
std::optional<Plot> weight_norms(const std::vector<Json>& lines);

/// A number for readers: "0.0123457", "1.2e-07"; "-" for anything else.
std::string number_text(const Json& value);

}  // namespace lagtape::report
