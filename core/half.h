#pragma once

#include <cstdint>

namespace lagtape {

/// The value of the bits of an IEEE half (f16). Exact: every half is a float.
float float_of_f16(std::uint16_t bits);
/// The value of the bits of a bfloat16 (the upper half of a float).
float float_of_bf16(std::uint16_t bits);

}  // namespace lagtape
