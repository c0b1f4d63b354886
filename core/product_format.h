#pragma once

#include <cstdint>

namespace lagtape {

/// What the products of a recurrence multiply, and what its saved values are: the model's own numbers, or
/// these rounded to bf16, the upper half of a float (ops/kernels/bf16.inc.h). All else is the same in both.
enum class ProductFormat : std::uint8_t { scalar, bf16 };

}  // namespace lagtape
