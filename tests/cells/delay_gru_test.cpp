#include "lagtape/cells/delay_gru.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("delay_gru computes Equation 12") {
  check_equal(run(DelayGru{3, 4}.build(2)),
              expected(4, [](const auto& h, const auto& past, const auto& x, int i) {
                const double g = sigmoid(affine("W3", h, i) + affine("U3", x, i));
                const double v = std::tanh(affine("W1", h, i) + affine("W2", past, i) + affine("U", x, i));
                return (1 - g) * h[i] + g * v;
              }));
}

}  // namespace
}  // namespace lagtape
