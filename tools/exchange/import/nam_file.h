#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A model of Neural Amp Modeler of the architecture "LSTM": "config" has input_size, hidden_size and num_layers,
/// "weights" is one list: for each layer the gates i, f, g, o [4 H, input + H] of input and state, their bias
/// [4 H] and the states h and c before the first step, then the map [1, H] and its bias. Throws InputError that
/// begins with `where`.
ForeignModel read_nam(const Json& root, const std::string& where);

}  // namespace lagtape::foreign
