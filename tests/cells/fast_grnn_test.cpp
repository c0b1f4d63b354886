#include "lagtape/cells/fast_grnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("fast_grnn computes its equations") {
  const double zeta = sigmoid(weight_of("zeta", 1)[0]), nu = sigmoid(weight_of("nu", 1)[0]);
  const Vector b_g = weight_of("b_g", kUnits), b_u = weight_of("b_u", kUnits);
  check_equal(run(FastGrnn{.units = kUnits}.build(kInputs)),
              expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                const double p = linear("W", x, i) + linear("U", h, i);
                const double g = sigmoid(p + b_g[i]);
                return g * h[i] + (zeta * (1 - g) + nu) * std::tanh(p + b_u[i]);
              }));
}

TEST_CASE("fast_grnn starts with biases of one") {
  for (const ParameterDefinition& p : FastGrnn{.units = 3, .rank_u = 2}.build(2).parameters) {
    CHECK(p.initializer == (p.name.starts_with("b_") ? Initializer::constant(1)
                            : p.name == "zeta"       ? Initializer::constant(1)
                            : p.name == "nu"         ? Initializer::constant(-4)
                                                     : Initializer::normal(0, 0.1)));
  }
}

}  // namespace
}  // namespace lagtape
