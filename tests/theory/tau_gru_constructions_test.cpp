#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lagtape/cells/tau_gru.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Delay systems that the tau-GRU follows.

namespace lagtape {
namespace {

using namespace test;

/// Part `block` of 2, of a weight [2 r][columns], as the product of a [r][s] and b [s][columns].
void put_product(Dynamics& cell, const std::string& name, int block, const Matrix& a, const Matrix& b) {
  Tensor& w = cell.weight(name);
  const std::size_t columns = b[0].size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < b.size(); ++k) sum += a[i][k] * b[k][j];
      w.set(static_cast<std::int64_t>((static_cast<std::size_t>(block) * a.size() + i) * columns + j), sum);
    }
  }
}

Matrix identity(std::size_t size) {
  Matrix m(size, Vector(size, 0));
  for (std::size_t i = 0; i < size; ++i) m[i][i] = 1;
  return m;
}

double entry_of_layer(const Matrix& a, const Vector& phi, const Matrix& b, const Vector& x, std::size_t i) {
  double sum = 0;
  for (std::size_t j = 0; j < phi.size(); ++j) sum += a[i][j] * phi[j];
  for (std::size_t j = 0; j < x.size(); ++j) sum += b[i][j] * x[j];
  return std::tanh(sum);
}

TEST_CASE(
    "with open gates the tau-GRU is every system phi' = C1 tanh(A1 phi + B1 x) + C2 tanh(A2 "
    "phi[-m] + B2 "
    "x)") {
  // Half of the units are the hidden layer that sees the present, half the one that sees the past. phi = [C1 C2] h.
  constexpr std::size_t kHidden = 4, kSize = 3, kInput = 2, kSteps = 40;
  double largest_state = 0, felt = 0;
  for (const std::int64_t m : {0, 1, 6}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(m);
      const auto matrix = [&](std::size_t rows, std::size_t columns, std::uint64_t n) {
        return random_inputs(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), 0.9,
                             10 * seed + n);
      };
      const Matrix a1 = matrix(kHidden, kSize, 1), a2 = matrix(kHidden, kSize, 2),
                   b1 = matrix(kHidden, kInput, 3), b2 = matrix(kHidden, kInput, 4),
                   c = matrix(kSize, 2 * kHidden, 5), x = random_inputs(kSteps, kInput, 1, seed);
      Dynamics cell(TauGru{.units = 2 * kHidden, .tau = {static_cast<double>(m)}}.build(kInput), 0, 1);
      cell.fill("W3.bias", 40);  // the sigmoid of 40 is 1 in f64
      cell.fill("W4.bias", 40);
      put_product(cell, "W1", 0, a1, c);
      put_product(cell, "W2", 1, a2, c);
      put_product(cell, "U1", 0, b1, identity(kInput));
      put_product(cell, "U2", 1, b2, identity(kInput));
      const Matrix states = cell.run(Vector(2 * kHidden, 0), x);

      Matrix phi = {Vector(kSize, 0)};
      for (std::size_t n = 0; n < kSteps; ++n) {
        const auto delay = static_cast<std::size_t>(m);
        const Vector past = n >= delay ? phi[n - delay] : Vector(kSize, 0);
        Vector next(kSize, 0), made(kSize, 0);
        for (std::size_t i = 0; i < kSize; ++i) {
          for (std::size_t j = 0; j < kHidden; ++j) {
            const double delayed = c[i][kHidden + j] * entry_of_layer(a2, past, b2, x[n], j);
            next[i] += c[i][j] * entry_of_layer(a1, phi[n], b1, x[n], j) + delayed;
            felt = std::max(felt, std::abs(delayed));
          }
          for (std::size_t j = 0; j < 2 * kHidden; ++j) made[i] += c[i][j] * states[n][j];
          CHECK(made[i] == doctest::Approx(next[i]).epsilon(1e-9));
          largest_state = std::max(largest_state, std::abs(next[i]));
        }
        phi.push_back(made);
      }
    }
  }
  CHECK(largest_state > 0.5);
  CHECK(felt > 0.3);
}

TEST_CASE(
    "the weight a multiplies present with past: a tau-GRU follows s' = r s (1 - s[-m]) as closely as one "
    "likes") {
  constexpr double kRate = 2.1;  // with m = 1 the map has a cycle that it turns around on
  constexpr std::size_t kSteps = 40;
  for (const std::size_t m : {0, 1, 2}) {
    CAPTURE(m);
    const double rate = m == 2 ? 1.5 : kRate;
    Vector truth = {0.2};
    for (std::size_t n = 0; n < kSteps; ++n)
      truth.push_back(rate * truth[n] * (1 - (n >= m ? truth[n - m] : 0)));
    Vector errors;
    for (const double small : {0.04, 0.02, 0.01}) {
      // small^2 s is the sum of both units. The first is rate h + (1/2 + small s) z(h[-m]), and the second takes away
      // z(h[-m]) / 2, with z = -rate small s[-m].
      Dynamics cell(TauGru{.units = 2, .tau = {static_cast<double>(m)}}.build(1), 0, 1);
      cell.fill("W3.bias", 40);  // the sigmoid of 40 is 1 in f64
      for (const std::int64_t from : {0, 1}) {
        cell.weight("W1").set(from, rate);
        cell.weight("W2").set(from, -rate / small);
        cell.weight("W2").set(2 + from, rate / small);
        cell.weight("W4").set(from, 4 / small);
      }
      const Matrix states = cell.run({small * small * truth[0], 0}, Matrix(kSteps, {0.0}));
      double error = 0;
      for (std::size_t n = 0; n < kSteps; ++n)
        error = std::max(error, std::abs((states[n][0] + states[n][1]) / (small * small) - truth[n + 1]));
      errors.push_back(error);
    }
    CHECK(*std::ranges::max_element(truth) > 0.3);
    CHECK(errors.front() > 1e-5);
    for (std::size_t i = 1; i < errors.size(); ++i)
      CHECK(std::log2(errors[i - 1] / errors[i]) == doctest::Approx(2).epsilon(0.1));
  }
}

}  // namespace
}  // namespace lagtape
