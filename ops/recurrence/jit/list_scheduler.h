#pragma once

#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// The program on that many neighboring vectors of a row at once.
VectorProgram repeated(const VectorProgram& program, int vectors);

/// The same instructions in an order with little waiting, with at most about `registers` values alive at once:
/// independent chains are interleaved.
VectorProgram list_scheduled(VectorProgram program, int registers);

}  // namespace lagtape::recurrence
