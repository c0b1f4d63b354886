#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// Runs a program over `bytes` > 0 bytes of every array, in whole rows. `pointers` is an array of pointers: the
/// i-th is the start of operands[i].
using StageFunction = void (*)(const void* pointers, std::int64_t bytes);

struct EmittedStage {
  StageFunction function =
      nullptr;  ///< null: not possible on this machine or build, or the program is too large
  std::vector<int> operands;
  std::shared_ptr<const void> code;  ///< keeps the function's memory
};

template <class T>
EmittedStage emit(const VectorProgram& program, SimdLevel level);

}  // namespace lagtape::recurrence
