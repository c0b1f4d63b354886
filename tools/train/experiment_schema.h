#pragma once

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The JSON Schema (2020-12) of experiment files, made from the tables that their reader goes by. It accepts what the
/// reader accepts, but for relations that no schema can express: between the data and the model, the loss and the
/// metrics, an equation and its weights, sizes that must agree.
Json experiment_schema();

}  // namespace lagtape
