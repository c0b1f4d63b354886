#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The model as a Neural Amp Modeler file, as import reads it (import/nam_file.h): lstm layers of one size with
/// their initial states, and an affine read-out with one output that is applied at every step. Throws
/// InputError for other models.
std::string nam_file(const Model& model);

}  // namespace lagtape
