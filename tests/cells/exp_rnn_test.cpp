#include "lagtape/cells/exp_rnn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

double largest_off_identity(const Vector& Q, int n) {
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = i == j ? -1 : 0;
      for (int k = 0; k < n; ++k) sum += Q[k * n + i] * Q[k * n + j];
      largest = std::max(largest, std::abs(sum));
    }
  }
  return largest;
}

/// The determinant, by elimination with pivots.
double determinant(Vector m, int n) {
  double result = 1;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
    if (pivot != k) result = -result;
    for (int j = 0; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
    result *= m[k * n + k];
    for (int i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      for (int j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return result;
}

TEST_CASE("exp_rnn computes its equations with the matrix of its step") {
  const Layer layer = ExpRnn{.units = kUnits}.build(kInputs);
  const Vector Q = step_weight(layer, "Q"), b = weight_of("b", kUnits);
  check_equal(run(layer), expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                const double u = product(Q, h, i) + linear("V", x, i);
                return (u > 0 ? 1 : -1) * std::max(std::abs(u) + b[i], 0.0);
              }));
}

TEST_CASE("the matrix of exp_rnn is a rotation whatever its parameters are") {
  for (const int n : {2, 5, 30}) {
    const Vector Q = step_weight(ExpRnn{.units = n}.build(2), "Q");
    CHECK(largest_off_identity(Q, n) < 1e-12);
    CHECK(determinant(Q, n) == doctest::Approx(1).epsilon(1e-12));
    CHECK(std::abs(Q[1]) > 1e-3);
  }
}

TEST_CASE("the triangle of exp_rnn starts from rotations of pairs of units") {
  for (const std::string start : {"henaff", "cayley"}) {
    const ParameterDefinition S = ExpRnn{.units = 7, .start = start}.build(2).parameters[0];
    Tensor value(S.shape, Dtype::f64);
    initialize(value, S.initializer, 5, "S");
    for (std::int64_t i = 0, k = 0; i < 7; ++i) {
      for (std::int64_t j = i + 1; j < 7; ++j, ++k) {
        const bool in_block = i % 2 == 0 && j == i + 1;
        CHECK((value.at(k) != 0) == in_block);
        if (!in_block) continue;
        CHECK(std::abs(value.at(k)) <= (start == "henaff" ? 3.1415926536 : 1));
        if (start == "cayley") CHECK(value.at(k) < 0);
      }
    }
  }
}

}  // namespace
}  // namespace lagtape
