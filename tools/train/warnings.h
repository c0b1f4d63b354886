#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/task.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

/// A text for each layer with lags beyond the length of the sequences.
std::vector<std::string> lag_warnings(const Model& model, const DataShape& data);

/// A text for each column of the data whose variation the model's precision would round away.
std::vector<std::string> rounding_warnings(const Model& model);

/// All that a user should be warned of before a training: these, quantiles without the median, and epochs with few
/// updates.
std::vector<std::string> training_warnings(const Trainer& trainer, const Model& model, const Task& task);

}  // namespace lagtape
