#pragma once

#include <cstdint>

namespace lagtape {

/// The number that the bits of an IEEE half (f16) stand for. Exact: every half is a float.
float float_of_f16(std::uint16_t bits);
/// The number that the bits of a bfloat16 (the upper half of a float) stand for.
float float_of_bf16(std::uint16_t bits);

}  // namespace lagtape
