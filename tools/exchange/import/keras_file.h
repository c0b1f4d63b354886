#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A Keras 3 file, `model.save("model.keras")`: a zip archive with config.json, which describes how layers are
/// connected, and model.weights.h5. Throws InputError that starts with `where` and names the layer.
ForeignModel read_keras(std::string_view bytes, const std::string& where);

/// Keras 3 weights without a model, `model.save_weights("model.weights.h5")`, of LSTM, GRU and Dense layers.
/// Their order is `order`, or the only one that the widths allow; functions are Keras's defaults, and all steps
/// are returned. The model's notes say so.
ForeignModel read_keras_weights(std::string_view bytes, const std::vector<std::string>& order,
                                const std::string& where);

}  // namespace lagtape::foreign
