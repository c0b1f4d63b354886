#include "lagtape/core/half.h"

#include <bit>
#include <cmath>
#include <limits>

namespace lagtape {

float float_of_f16(std::uint16_t bits) {
  const float sign = bits & 0x8000 ? -1.0F : 1.0F;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent < 31) return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::quiet_NaN();
}

float float_of_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace lagtape
