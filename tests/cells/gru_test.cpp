#include "lagtape/cells/gru.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("gru computes its equations: the reset gate multiplies the product with its bias") {
  check_equal(run(Gru{.units = kUnits}.build(kInputs)),
              expected(0, [](const Vector& h, const Vector&, const Vector& x, int unit) {
                const double r = sigmoid(affine("W_r", h, unit) + affine("U_r", x, unit));
                const double z = sigmoid(affine("W_z", h, unit) + affine("U_z", x, unit));
                const double c = std::tanh(affine("U_n", x, unit) + r * affine("W_n", h, unit));
                return (1 - z) * c + z * h[unit];
              }));
}

TEST_CASE("the state of gru stays within 1 for any weights, and comes near it") {
  const auto large = [](const std::string& name, std::int64_t count) {
    Vector values = weight_of(name, count);
    for (double& value : values) value *= 50;
    return values;
  };
  double largest = 0;
  for (const Vector& h : run(Gru{.units = kUnits}.build(kInputs), large))
    for (const double unit : h) largest = std::max(largest, std::abs(unit));
  CHECK(largest <= 1);
  CHECK(largest > 0.99);
}

}  // namespace
}  // namespace lagtape
