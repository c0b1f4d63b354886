#pragma once

#include <cstdint>

namespace lagtape {

/// The operands of a recurrence's products, and its saved values: the model's own numbers; these rounded
/// to bf16, the upper half of a float (ops/kernels/bf16.inc.h); or these quantized to eight bits (ops/kernels/int8.h),
/// for streams alone, which save nothing. All else is the same in each.
enum class ProductFormat : std::uint8_t { scalar, bf16, int8 };

}  // namespace lagtape
