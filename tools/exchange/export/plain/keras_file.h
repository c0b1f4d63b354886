#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A model as RTNeural's JSON for Keras models: layers lstm, gru and dense. A read-out is applied at every
/// step. Throws InputError as plain_model does.
std::string keras_file(const Model& model);

}  // namespace lagtape
