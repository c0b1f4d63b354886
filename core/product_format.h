#pragma once

#include <cstdint>

namespace lagtape {

/// What the products of a recurrence multiply, and what its saved values are: the model's own numbers; these rounded
/// to bf16, the upper half of a float (ops/kernels/bf16.inc.h); or these quantised to eight bits (ops/kernels/int8.h),
/// for streams alone, which save nothing. All else is the same in each.
enum class ProductFormat : std::uint8_t { scalar, bf16, int8 };

}  // namespace lagtape
