#include "lagtape/cells/rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("rnn computes its equation") {
  check_equal(run(Rnn{.units = kUnits}.build(kInputs)),
              expected(0, [](const Vector& h, const Vector&, const Vector& x, int unit) {
                return std::tanh(affine("W", h, unit) + affine("U", x, unit));
              }));
}

TEST_CASE("the state of rnn stays within 1 for any weights, and comes near it") {
  const auto large = [](const std::string& name, std::int64_t count) {
    Vector values = weight_of(name, count);
    for (double& value : values) value *= 50;
    return values;
  };
  double largest = 0;
  for (const Vector& h : run(Rnn{.units = kUnits}.build(kInputs), large))
    for (const double unit : h) largest = std::max(largest, std::abs(unit));
  CHECK(largest <= 1);
  CHECK(largest > 0.99);
}

}  // namespace
}  // namespace lagtape
