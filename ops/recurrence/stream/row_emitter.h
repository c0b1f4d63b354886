#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "lagtape/ops/recurrence/stream/row_program.h"

namespace lagtape::recurrence {

/// The function for one step. `memory` is the stream's memory; `states` are the addresses of the moving states
/// before the step, which advances them; input and output are dense.
template <class T>
using RowFunction = void (*)(T* memory, const T* input, T* output, T** states);

template <class T>
struct EmittedRow {
  std::array<RowFunction<T>, 2>
      functions{};                   ///< for even and odd steps; null: not possible on this machine or build
  std::shared_ptr<const void> code;  ///< keeps the functions' memory
};

/// Machine code for avx512, which refers to the packed weights of `row`.
template <class T>
EmittedRow<T> emit(const RowProgram<T>& row);

}  // namespace lagtape::recurrence
