#include "lagtape/cells/noisy_rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/cells/lipschitz_rnn.h"
#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("noisy_rnn without its noise is the Lipschitz network with a step a unit") {
  const NoisyRnn cell{.units = kUnits, .beta = 0.7, .gamma_a = 0.2, .gamma_w = 0.1};
  const Layer layer = cell.build(kInputs);
  const Vector A = step_weight(layer, "A"), W = step_weight(layer, "W"), d = weight_of("d", kUnits);
  check_equal(run(layer), expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                return h[i] + d[i] * (product(A, h, i) + std::tanh(product(W, h, i) + affine("U", x, i)));
              }));
  const Layer lipschitz = LipschitzRnn{.units = kUnits, .beta = 0.7, .gamma = 0.1}.build(kInputs);
  CHECK(W == step_weight(lipschitz, "W"));
}

TEST_CASE("noisy_rnn draws in training alone, and only the noise that it has") {
  const auto draws = [](double additive, double multiplicative) {
    return NoisyRnn{.units = 3, .additive = additive, .multiplicative = multiplicative}
        .build(2)
        .program.draws;
  };
  CHECK(draws(0, 0).empty());
  REQUIRE(draws(0.1, 0.2).size() == 2);
  for (const DrawDefinition& draw : draws(0.1, 0.2)) {
    CHECK(draw.every_step);
    CHECK(draw.evaluation == 0);
  }
  CHECK(draws(0.1, 0)[0].kind == DrawDefinition::Kind::normal);
  CHECK(draws(0, 0.1)[0].kind == DrawDefinition::Kind::uniform);
}

}  // namespace
}  // namespace lagtape
