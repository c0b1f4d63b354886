#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The model as the bytes that tools/stream/blob_stream.h runs: 32-bit little-endian words, with f32 weights.
/// Throws InputError for a model that cannot run step by step, and for states on the grid.
std::string blob_file(const Model& model);

}  // namespace lagtape
