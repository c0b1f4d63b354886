#pragma once

#include <cstdint>

namespace lagtape {

/// The format of the operands of a recurrence's products, and of its saved values: the model's own numbers;
/// these rounded to bf16, the upper half of a float (ops/kernels/bf16.inc.h); or these quantized to eight bits
/// (ops/kernels/int8.h), only for streams, which save nothing. Everything else is the same in each.
enum class ProductFormat : std::uint8_t { scalar, bf16, int8 };

}  // namespace lagtape
