#include <doctest/doctest.h>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

TEST_CASE("a kernel that writes zeros, nothing, or a slightly wrong value does not pass the comparison") {
  const auto expected = random_rows<float>(1, 64, 64, 1);
  auto got = expected;
  CHECK(difference(got, expected, 0) == "");
  CHECK(bit_difference(got, expected) == "");

  got[7] = std::nextafter(std::nextafter(got[7], 2.0f), 2.0f);
  CHECK(difference(got, expected, 1.5) != "");
  CHECK(bit_difference(got, expected) != "");

  Aligned<float> zeros(64);
  for (int i = 0; i < 64; ++i) zeros[i] = 0;
  CHECK(difference(zeros, expected, 100) != "");
  CHECK(bit_difference(zeros, expected) != "");
  CHECK(difference(zeros, zeros, 100) == "the expected values are all zero");

  const Aligned<float> unwritten(64);
  CHECK(difference(unwritten, expected, 100) != "");
}

TEST_CASE("levels are ordered, the lowest is always there, and each has a table of its own") {
  const auto levels = supported_levels();
  REQUIRE(!levels.empty());
  CHECK(levels.front() == SimdLevel::generic);
  CHECK(levels.back() == best_level());
  for (SimdLevel level : levels) {
    CAPTURE(name_of(level));
    CHECK(is_supported(level));
    CHECK(kernels<float>(level).level == level);
    CHECK(kernels<double>(level).level == level);
    CHECK(kernels<float>(level).fused == (level != SimdLevel::generic));
  }
}
