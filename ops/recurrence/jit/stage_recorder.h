#pragma once

#include <optional>
#include <vector>

#include "lagtape/ops/recurrence/jit/vector_program.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// The stage as a program, with the operations of the element-wise kernels in their order, so every result has
/// the kernels' bits. Returns none if the stage does more than element-wise work of one width, or calls the C
/// library. `arrays` are the layer's. `stores_round`: the processor rounds numbers to bf16 as it stores them;
/// otherwise the program rounds them.
template <class T>
std::optional<VectorProgram> record(const ElementStage& stage, const std::vector<Array>& arrays,
                                    bool stores_round = false);

}  // namespace lagtape::recurrence
