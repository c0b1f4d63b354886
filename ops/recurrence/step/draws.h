#pragma once

#include <cstdint>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The value of a random draw in training: uniform in [0, 1), standard normal, or a mask. It is a pure function
/// of its arguments (Philox), so it does not depend on row, slice, chunk, or thread. `step` is absolute and
/// ignored if the draw is for the whole sequence; `unit` counts the value's elements in row-major order;
/// `layer` is the layer's position in the stack (for the read-out, the number of layers); `draw_index` is the
/// draw's index in its program.
double draw_at(const DrawDefinition& draw, std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence,
               std::int64_t step, std::int64_t unit, int layer, int draw_index);

/// The same draw in two halves; all steps and units of a sequence share the key.
std::uint64_t draw_key(std::uint64_t seed, std::uint64_t epoch, std::int64_t sequence, int layer,
                       int draw_index);
double draw_at(const DrawDefinition& draw, std::uint64_t key, std::int64_t step, std::int64_t unit);

}  // namespace lagtape
