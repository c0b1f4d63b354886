#include "lagtape/data/moments.h"

#include <doctest/doctest.h>

namespace lagtape {
namespace {

TEST_CASE("a feature that varies by less than f32 can divide by is only shifted") {
  Moments moments(4);
  for (const double row : {0.0, 1.0})
    moments.add([&](std::size_t i) { return std::vector<double>{2 * row, 5, 1e-30 * row, 1e-40 * row}[i]; });
  const Scaling scaling = moments.standard();
  CHECK(scaling.mean == std::vector<double>{1, 5, 5e-31, 5e-41});
  CHECK(scaling.scale == std::vector<double>{1, 1, 5e-31, 1});
  scaling.check(4, "input");
}

}  // namespace
}  // namespace lagtape
