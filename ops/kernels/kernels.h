#pragma once

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The table of a SIMD level. Throws InputError if this machine or build does not support it.
template <class T>
const Kernels<T>& kernels(SimdLevel level);

/// The same with products in that format: by the processor's instruction if available, or else by its
/// emulation, which gives the same bits. For bf16 in f64, operands are rounded to bf16 and sums are in f64, so
/// the roundings can be compared with an oracle's to the last digits. Throws InputError for int8 in f64.
template <class T>
const Kernels<T>& kernels(SimdLevel level, ProductFormat products);

/// The emulation of bf16 products at a level, on any processor that has the level.
template <class T>
const Kernels<T>& bf16_emulation(SimdLevel level);
/// Whether this processor has the instruction that defines bf16 products.
bool has_bf16_instruction();

/// The same for quantized products.
const Kernels<float>& int8_emulation(SimdLevel level);
/// Whether this processor has the instruction for the sums of quantized products.
bool has_int8_instruction();

/// The reference for the kernels in tests: scalar code with the same order of operations. It produces the same
/// bits as the levels with the same `fused`.
template <class T>
const Kernels<T>& scalar_twin(bool fused = true);

}  // namespace lagtape
