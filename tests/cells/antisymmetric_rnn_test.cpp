#include "lagtape/cells/antisymmetric_rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("antisymmetric_rnn computes its equations, plain, gated and with any matrix") {
  // W strictly upper triangular, row by row.
  const Vector w = weight_of("W", 3);
  const double g = 0.2, e = 0.3;
  const Vector A = {-g, w[0], w[1], -w[0], -g, w[2], -w[1], -w[2], -g};
  const auto plain = [&](const auto& h, const auto&, const auto& x, int i) {
    return h[i] + e * std::tanh(product(A, h, i) + affine("U", x, i));
  };
  const auto gated = [&](const auto& h, const auto&, const auto& x, int i) {
    const double s = sigmoid(product(A, h, i) + affine("Uz", x, i));
    return h[i] + e * s * std::tanh(product(A, h, i) + affine("U", x, i));
  };
  const auto residual = [&](const auto& h, const auto&, const auto& x, int i) {
    return h[i] + e * std::tanh(linear("W", h, i) + affine("U", x, i));
  };
  const auto layer = [&](const std::string& form) {
    return AntisymmetricRnn{.units = kUnits, .epsilon = e, .gamma = g, .form = form}.build(kInputs);
  };
  check_equal(run(layer("plain")), expected(0, plain));
  check_equal(run(layer("gated")), expected(0, gated));
  check_equal(run(layer("residual")), expected(0, residual));
}

TEST_CASE("the matrix of antisymmetric_rnn is minus its transpose, but for the damping") {
  const Vector A = step_weight(AntisymmetricRnn{.units = 6, .gamma = 0.25}.build(2), "A");
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) CHECK(A[i * 6 + j] + A[j * 6 + i] == (i == j ? -0.5 : 0));
  }
}

}  // namespace
}  // namespace lagtape
