#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// RTNeural's JSON for Keras models, and AIDA-X's: { "in_shape": [null, null, 1], "layers": [ {"type": "lstm",
/// "activation": "tanh", "shape": [null, null, 8], "weights": [..] }, ... ] }. Layers: lstm, gru, dense,
/// time-distributed-dense, activation. AIDA-X also has "in_skip" (the input is added to the output) and the
/// gains "in_gain" and "out_gain" in dB. Other keys describe the model and are not read. Throws InputError that
/// starts with `where`.
ForeignModel read_keras_json(const Json& root, const std::string& where);

}  // namespace lagtape::foreign
