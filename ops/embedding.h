#pragma once

#include <cstdint>
#include <span>

#include "lagtape/core/tape.h"

namespace lagtape {

/// Row i of y is row indices[i] of E; E: [V, d], y: [n, d]. The gradient of E adds the rows of dL/dy in
/// order. Throws InputError that names the first index outside 0..V-1 and its position.
Var embedding(const Var& e, std::span<const std::int32_t> indices);

}  // namespace lagtape
