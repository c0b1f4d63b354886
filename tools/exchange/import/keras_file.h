#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A file of Keras 3, `model.save("model.keras")`: a zip archive of config.json, which says how layers follow each other, and
/// model.weights.h5. Throws InputError that begins with `where` and names the layer.
ForeignModel read_keras(std::string_view bytes, const std::string& where);

/// Weights of Keras 3 alone, `model.save_weights("model.weights.h5")`, of LSTM, GRU and Dense layers. Their order is the one
/// that widths allow, or `order`; functions are Keras's own, and all steps are given. The model's notes say so.
ForeignModel read_keras_weights(std::string_view bytes, const std::vector<std::string>& order,
                                const std::string& where);

}  // namespace lagtape::foreign
