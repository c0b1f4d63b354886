#include "lagtape/cells/cornn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("cornn computes its equations") {
  const double dt = 0.3, gamma = 1.7, epsilon = 0.6;
  Vector z(kUnits), y(kUnits);
  std::vector<Vector> outputs;
  for (const Vector& x : sequence()) {
    Vector z_next(kUnits), y_next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double force = std::tanh(linear("Wz", z, i) + linear("Wy", y, i) + affine("V", x, i));
      z_next[i] = z[i] + dt * (force - gamma * y[i] - epsilon * z[i]);
      y_next[i] = y[i] + dt * z_next[i];
    }
    z = z_next;
    y = y_next;
    outputs.push_back(y);
  }
  check_equal(run(CoRnn{.units = kUnits, .dt = dt, .gamma = gamma, .epsilon = epsilon}.build(kInputs)),
              outputs);
}

TEST_CASE("cornn starts as one linear map of its input and both states") {
  for (const ParameterDefinition& parameter :
       CoRnn{.units = 3, .dt = 1, .gamma = 1, .epsilon = 1}.build(10).parameters)
    CHECK(parameter.initializer == Initializer::uniform(-0.25, 0.25));
}

}  // namespace
}  // namespace lagtape
