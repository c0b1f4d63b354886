#pragma once

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The table of one level, from the source that is compiled for it.
template <class T, SimdLevel level>
const Kernels<T>& compiled_kernels();

/// The same with emulated bf16 products.
template <class T, SimdLevel level>
const Kernels<T>& compiled_bf16_emulation();

/// The same with quantized products, in plain integers.
template <SimdLevel level>
const Kernels<float>& compiled_int8_emulation();

/// AVX-512 with quantized products by the processor's own instruction.
const Kernels<float>& int8_instruction_kernels();
/// AVX-512 with bf16 products by the processor's own instruction.
const Kernels<float>& bf16_instruction_kernels();

}  // namespace lagtape
