#pragma once

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The table of a level. Throws InputError when this machine or build does not have it.
template <class T>
const Kernels<T>& kernels(SimdLevel level);

/// The plain loops that the kernels are tested against: scalar code, the same order of operations. It
/// gives the bits of levels whose `fused` is the same.
template <class T>
const Kernels<T>& scalar_twin(bool fused = true);

}  // namespace lagtape
