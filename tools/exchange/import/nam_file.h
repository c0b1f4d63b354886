#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A Neural Amp Modeler model with the architecture "LSTM": "config" contains input_size, hidden_size and
/// num_layers, "weights" is one list: for each layer the gates i, f, g, o [4 H, input + H] for input and state,
/// their bias [4 H] and the initial states h and c, then the map [1, H] and its bias. Throws InputError that
/// starts with `where`.
ForeignModel read_nam(const Json& root, const std::string& where);

}  // namespace lagtape::foreign
