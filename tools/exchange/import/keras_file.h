#pragma once

#include <string>
#include <string_view>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A file of Keras 3, `model.save("model.keras")`: a zip archive of config.json, which says how layers follow each other, and
/// model.weights.h5. Throws InputError that begins with `where` and names the layer.
ForeignModel read_keras(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
