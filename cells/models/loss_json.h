#pragma once

#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/step/loss_function.h"

namespace lagtape {

/// Reads a loss: its name, or an object with the name and the settings:
///
///     "quantile"        { "type": "quantile", "levels": [0.05, 0.5, 0.95] }
///
/// Notes errors; if there are any, the result is invalid.
LossFunction read_loss(const Json& given, const std::string& pointer, JsonErrors& errors);

/// The JSON from which read_loss makes the same loss, with every setting; just a name for a loss without
/// settings or with equal weights.
Json json_of(const LossFunction& loss);

/// The settings of a loss, with their documentation.
std::vector<OptionDoc> options_of(Loss loss);

}  // namespace lagtape
