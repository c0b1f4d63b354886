#pragma once

#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// The program for that many neighboring vectors of a row at once.
VectorProgram repeated(const VectorProgram& program, int vectors);

/// The same instructions reordered to reduce waiting, with at most about `registers` live values: independent
/// chains are interleaved.
VectorProgram list_scheduled(VectorProgram program, int registers);

}  // namespace lagtape::recurrence
