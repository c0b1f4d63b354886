#pragma once

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The table of a SIMD level. Throws InputError when this machine or build does not have that level.
template <class T>
const Kernels<T>& kernels(SimdLevel level);

/// The plain loops that the kernels are tested against: scalar code with the same order of operations. It
/// gives the bits of the levels with the same `fused`.
template <class T>
const Kernels<T>& scalar_twin(bool fused = true);

}  // namespace lagtape
