#pragma once

#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// The program on that many neighboring vectors of a row at once.
VectorProgram repeated(const VectorProgram& program, int vectors);

/// The same instructions in an order in which few wait for each other, as long as no more than about
/// `registers` values are alive at once: independent chains are interleaved.
VectorProgram list_scheduled(VectorProgram program, int registers);

}  // namespace lagtape::recurrence
