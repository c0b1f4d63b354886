#pragma once

// Internal: machine code for a VectorProgram.

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/vector_program.h"

namespace lagtape::recurrence {

/// Runs a program over `bytes` > 0 bytes of every array, whole rows. `pointers` is an array of pointers: the
/// i-th is where slots[i] begins.
using TileFunction = void (*)(const void* pointers, std::int64_t bytes);

struct EmittedTiles {
  TileFunction function = nullptr;  ///< null: this machine or build cannot, or the program needs too much
  std::vector<int> slots;
  std::shared_ptr<const void> code;  ///< keeps the function's memory
};

template <class T>
EmittedTiles emit(const VectorProgram& program, SimdLevel level);

}  // namespace lagtape::recurrence
