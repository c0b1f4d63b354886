#pragma once

#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/step/loss_function.h"

namespace lagtape {

/// Reads a loss: its name, or an object of the name and the settings:
///
///     "quantile"        { "type": "quantile", "levels": [0.05, 0.5, 0.95] }
///
/// Notes errors; with any, the result is invalid.
LossFunction read_loss(const Json& given, const std::string& pointer, JsonErrors& errors);

/// The JSON that read_loss makes the same loss from, with every setting; a name alone for a loss without settings or
/// with equal weights.
Json json_of(const LossFunction& loss);

/// The settings of a loss, with their documentation.
std::vector<OptionDoc> options_of(Loss loss);

}  // namespace lagtape
