#include "lagtape/cells/lipschitz_rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

/// (1 - beta) (M + M^T) + beta (M - M^T) - gamma I
Vector mixed(const std::string& name, double beta, double gamma) {
  const Vector M = weight_of(name, kUnits * kUnits);
  Vector A(M.size());
  for (int i = 0; i < kUnits; ++i) {
    for (int j = 0; j < kUnits; ++j) {
      const double a = M[i * kUnits + j], b = M[j * kUnits + i];
      A[i * kUnits + j] = (1 - beta) * (a + b) + beta * (a - b) - (i == j ? gamma : 0);
    }
  }
  return A;
}

TEST_CASE("lipschitz_rnn computes its equations") {
  const Vector A = mixed("M_A", 0.7, 0.2), W = mixed("M_W", 0.7, 0.2);
  const LipschitzRnn cell{.units = kUnits, .epsilon = 0.3, .alpha = 0.6, .beta = 0.7, .gamma = 0.2};
  check_equal(run(cell.build(kInputs)), expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                return h[i] +
                       0.3 * (0.6 * product(A, h, i) + std::tanh(product(W, h, i) + affine("U", x, i)));
              }));
}

TEST_CASE("the symmetric part of lipschitz_rnn's matrix is what beta and gamma leave of it") {
  const Vector M = weight_of("M_A", kUnits * kUnits);
  const Layer layer = LipschitzRnn{.units = kUnits, .beta = 0.8, .gamma = 0.1}.build(kInputs);
  const Layer skew = LipschitzRnn{.units = kUnits, .beta = 1, .gamma = 0.1}.build(kInputs);
  const Vector A = step_weight(layer, "A"), S = step_weight(skew, "A");
  for (int i = 0; i < kUnits; ++i) {
    for (int j = 0; j < kUnits; ++j) {
      const int ij = i * kUnits + j, ji = j * kUnits + i;
      const double damping = i == j ? 0.1 : 0;
      CHECK((A[ij] + A[ji]) / 2 == doctest::Approx(0.2 * (M[ij] + M[ji]) - damping));
      // All eigenvalues of S have the real part -gamma: S + gamma I is antisymmetric.
      CHECK(std::abs((S[ij] + S[ji]) / 2 + damping) < 1e-15);
    }
  }
}

TEST_CASE("lipschitz_rnn starts from small matrices") {
  const Layer layer = LipschitzRnn{.units = 50, .init_deviation = 0.1}.build(4);
  CHECK(layer.parameters[0].initializer == Initializer::normal(0, 0.1 / 50));
  CHECK(layer.parameters[3].initializer == Initializer::uniform(-0.5, 0.5));
}

}  // namespace
}  // namespace lagtape
