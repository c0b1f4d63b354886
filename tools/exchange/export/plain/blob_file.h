#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The model as the bytes that tools/stream/blob_stream.h runs: words of 32 bits, little-endian, weights in f32. Throws InputError
/// for a model that cannot run step by step, and for states on the grid.
std::string blob_file(const Model& model);

}  // namespace lagtape
