#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// Runs a program over `bytes` > 0 bytes of every array, whole rows. `pointers` is an array of pointers: the
/// i-th is where operands[i] begins.
using StageFunction = void (*)(const void* pointers, std::int64_t bytes);

struct EmittedStage {
  StageFunction function = nullptr;  ///< null: this machine or build cannot, or the program needs too much
  std::vector<int> operands;
  std::shared_ptr<const void> code;  ///< keeps the function's memory
};

template <class T>
EmittedStage emit(const VectorProgram& program, SimdLevel level);

}  // namespace lagtape::recurrence
