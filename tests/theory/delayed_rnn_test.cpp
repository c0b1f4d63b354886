#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lagtape/cells/equation_cell.h"
#include "lagtape/tests/theory/support/dynamics.h"
#include "lagtape/tools/train/experiment_rows.h"

// The basic delayed RNN of the tau-GRU paper's Section 4.2, Eq. 18, as the row delayed_rnn of tools/experiments/enso
// writes it: h[n+1] = A h[n] + B h[n-m] + C u[n], h[n] = 0 for n <= 0.

namespace lagtape {
namespace {

using namespace test;

constexpr std::size_t kUnits = 3;
constexpr int kDelay = 20;  ///< m in the file

Layer delayed_rnn() {
  const ExperimentPlace place =
      experiment_in(std::filesystem::path(LAGTAPE_SOURCE) / "tools/experiments/enso", "delayed_rnn");
  const Json experiment = read_experiment_document(place);
  JsonErrors errors;
  JsonReader reader(experiment["cells"]["delayed_rnn"], "", errors);
  const CellDefinition definition = read_cell_definition(reader);
  errors.raise(place.text());
  return definition.build(kUnits, 1);
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), Vector(b[0].size(), 0));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < b[k].size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Matrix power(const Matrix& a, int exponent) {
  Matrix p(kUnits, Vector(kUnits, 0));
  for (std::size_t i = 0; i < kUnits; ++i) p[i][i] = 1;
  for (int n = 0; n < exponent; ++n) p = product(p, a);
  return p;
}

void put(Dynamics& cell, const std::string& name, const Matrix& m) {
  Tensor& w = cell.weight(name);
  std::int64_t at = 0;
  for (const Vector& row : m)
    for (const double value : row) w.set(at++, value);
}

/// Random A and C, and B = 0.5 A A + 0.4 I, which A commutes with, as the proposition asks.
struct Matrices {
  Matrix a, b, c;
};

Matrices commuting(std::uint64_t seed) {
  Matrices m{
      .a = random_inputs(kUnits, kUnits, 0.6, seed), .b = {}, .c = random_inputs(kUnits, 1, 1, seed + 50)};
  m.b = product(m.a, m.a);
  for (std::size_t i = 0; i < kUnits; ++i)
    for (std::size_t j = 0; j < kUnits; ++j) m.b[i][j] = 0.5 * m.b[i][j] + (i == j ? 0.4 : 0);
  return m;
}

/// d h[n] / d u[i] for every n from 1 on. The cell is linear, so that it is what a one at u[i] makes of zeros.
Matrix response(const Dynamics& cell, int i) {
  Matrix u(2 * kDelay + 2, Vector(1, 0));
  u[static_cast<std::size_t>(i)][0] = 1;
  return cell.run(Vector(kUnits, 0), u);
}

void check_equal(const Vector& got, const Matrix& expected) {
  for (std::size_t k = 0; k < kUnits; ++k)
    CHECK(got[k] == doctest::Approx(expected[k][0]).scale(largest(got)).epsilon(1e-12));
}

TEST_CASE("Proposition 1: gradients of the basic delayed RNN for one delay and two, A and B commuting") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto [a, b, c] = commuting(seed);
    Dynamics cell(delayed_rnn(), 0, 1);
    put(cell, "A", a), put(cell, "B", b), put(cell, "C", c);
    for (const int i : {0, 1, 7, kDelay}) {
      const Matrix got = response(cell, i);
      for (int n = i; n <= kDelay; ++n)  // as without a delay
        check_equal(got[static_cast<std::size_t>(n)], product(power(a, n - i), c));
      for (int j = 1; j <= kDelay + 1; ++j) {
        Matrix sum = product(power(a, kDelay + j - i), c);
        if (j > i) {
          const Matrix buffer = product(power(a, j - i - 1), product(b, c));
          for (std::size_t k = 0; k < kUnits; ++k) sum[k][0] += (j - i) * buffer[k][0];
        }
        check_equal(got[static_cast<std::size_t>(kDelay + j)], sum);
      }
    }
  }
}

TEST_CASE("Proposition 1 needs A B = B A: with other matrices the closed form is wrong beyond one delay") {
  auto [a, b, c] = commuting(1);
  b[0][1] += 0.5;
  Dynamics cell(delayed_rnn(), 0, 1);
  put(cell, "A", a), put(cell, "B", b), put(cell, "C", c);
  const Vector got = response(cell, 0)[kDelay + 2];  // h[m+3], j = 2
  const Matrix printed = product(product(a, b), c);
  Vector apart(kUnits);
  const Matrix without = product(power(a, kDelay + 2), c);
  for (std::size_t k = 0; k < kUnits; ++k) apart[k] = got[k] - without[k][0] - 2 * printed[k][0];
  CHECK(largest(apart) > 0.01);
}

TEST_CASE("Section 4.2: the delay is a buffer, where the gradient without it has vanished") {
  Dynamics cell(delayed_rnn(), 0, 1);
  const Matrices m = commuting(2);
  Matrix small = m.a;
  for (Vector& row : small)
    for (double& value : row) value *= 0.1;
  put(cell, "A", small), put(cell, "B", m.b), put(cell, "C", m.c);
  CHECK(largest(response(cell, 0)[kDelay + 1]) > 0.1);
  cell.fill("B", 0);
  CHECK(largest(response(cell, 0)[kDelay + 1]) < 1e-12);
}

}  // namespace
}  // namespace lagtape
