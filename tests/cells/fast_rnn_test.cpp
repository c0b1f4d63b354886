#include "lagtape/cells/fast_rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("fast_rnn computes its equations, of full and of low rank") {
  const double kept = sigmoid(weight_of("beta", 1)[0]), taken = sigmoid(weight_of("alpha", 1)[0]);
  const Vector b = weight_of("b", kUnits);
  check_equal(run(FastRnn{.units = kUnits}.build(kInputs)),
              expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                return kept * h[i] + taken * std::tanh(linear("W", x, i) + linear("U", h, i) + b[i]);
              }));

  const Vector W1 = weight_of("W1", kUnits), W2 = weight_of("W2", kInputs);
  const Vector U1 = weight_of("U1", kUnits * 2), U2 = weight_of("U2", 2 * kUnits);
  check_equal(run(FastRnn{.units = kUnits, .activation = "sigmoid", .rank_w = 1, .rank_u = 2}.build(kInputs)),
              expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                const double Wx = W1[i] * product(W2, x, 0);
                const double Uh = product(U1, {product(U2, h, 0), product(U2, h, 1)}, i);
                return kept * h[i] + taken * sigmoid(Wx + Uh + b[i]);
              }));
}

TEST_CASE("fast_rnn starts with nearly all of its state kept") {
  for (const ParameterDefinition& p : FastRnn{.units = 3}.build(2).parameters) {
    CHECK(p.initializer == (p.name == "b"       ? Initializer::constant(1)
                            : p.name == "alpha" ? Initializer::constant(-3)
                            : p.name == "beta"  ? Initializer::constant(3)
                                                : Initializer::normal(0, 0.1)));
  }
}

}  // namespace
}  // namespace lagtape
