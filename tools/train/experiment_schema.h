#pragma once

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The JSON Schema (2020-12) of experiment files, generated from the reader's tables. It accepts the same as
/// the reader, except for constraints that no schema can express: between the data and the model, the loss and
/// the metrics, an equation and its weights, sizes that must agree.
Json experiment_schema();

}  // namespace lagtape
