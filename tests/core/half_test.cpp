#include "lagtape/core/half.h"

#include <doctest/doctest.h>

#include <cmath>

namespace lagtape {
namespace {

TEST_CASE("a half is its sign, exponent and fraction") {
  CHECK(float_of_f16(0x3C00) == 1.0F);
  CHECK(float_of_f16(0xC000) == -2.0F);
  CHECK(float_of_f16(0x3555) == 0.333251953125F);
  CHECK(float_of_f16(0x7BFF) == 65504.0F);
  CHECK(float_of_f16(0x0001) == std::ldexp(1.0F, -24));  // the smallest, without the leading one
  CHECK(float_of_f16(0x0400) == std::ldexp(1.0F, -14));
  CHECK(std::signbit(float_of_f16(0x8000)));
  CHECK(float_of_f16(0xFC00) == -INFINITY);
  CHECK(std::isnan(float_of_f16(0x7E00)));
}

TEST_CASE("halves are in order") {
  for (int bits = 1; bits <= 0x7C00; ++bits)
    CHECK(float_of_f16(static_cast<std::uint16_t>(bits)) >
          float_of_f16(static_cast<std::uint16_t>(bits - 1)));
}

TEST_CASE("a bfloat16 is the upper half of a float") {
  CHECK(float_of_bf16(0x3F80) == 1.0F);
  CHECK(float_of_bf16(0xC049) == -3.140625F);
}

}  // namespace
}  // namespace lagtape
