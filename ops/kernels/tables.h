#pragma once

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The table of one level, defined in the source that is compiled for it.
template <class T, SimdLevel level>
const Kernels<T>& compiled_kernels();

}  // namespace lagtape
