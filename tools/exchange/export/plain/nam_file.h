#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The model as a file of Neural Amp Modeler, as import reads it (import/nam_file.h): lstm layers of one size, with the states
/// that they begin in, and an affine read-out of one output, which is applied at every step. Throws InputError for others.
std::string nam_file(const Model& model);

}  // namespace lagtape
