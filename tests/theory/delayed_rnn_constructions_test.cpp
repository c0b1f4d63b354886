#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lagtape/cells/equation_cell.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Theorem 4 of the tau-GRU paper: the basic delayed RNN, Eq. 64 (Eq. 8 of the text), approximates the delay systems
// s[n+1] = F(s[n], s[n-m], u[n]), o[n] = G(s[n]) of Eq. 65. Its construction, Eq. 80, is built here in the paper's
// letters: F and G are networks of one hidden layer, and both hidden layers are the state r of the RNN.

namespace lagtape {
namespace {

using namespace test;

/// r' = tanh(A r + B r[-m] + C x + b)
Layer delayed_rnn(std::int64_t units, std::int64_t inputs, std::int64_t m) {
  JsonErrors errors;
  Json json = Json::parse(R"json({
    "hyper": {"m": 1}, "state": {"r": "units"}, "output": "r'",
    "weights": {"A": ["units", "units"], "B": ["units", "units"], "C": ["units", "input"], "b": ["units"]},
    "step": ["r' = tanh(A @ r + B @ r[-m] + C @ x + b)"]})json");
  json["hyper"]["m"] = m;
  JsonReader reader(json, "", errors);
  const CellDefinition definition = read_cell_definition(reader);
  errors.raise("test");
  return definition.build(units, inputs);
}

Vector times(const Matrix& a, const Vector& x) {
  Vector y(a.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i][j] * x[j];
  return y;
}

/// tanh(sum of the given vectors)
Vector hidden(const std::initializer_list<Vector>& terms) {
  Vector h(terms.begin()->size(), 0);
  for (const Vector& term : terms)
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += term[i];
  for (double& value : h) value = std::tanh(value);
  return h;
}

/// Networks s[n+1] = W3 tanh(W1 s[n] + W2 s[n-m] + W4 u[n] + b1) and o[n] = W7 tanh(W6 s[n] + b2).
struct Networks {
  Matrix w1, w2, w3, w4, w6, w7;
  Vector b1, b2;
};

/// The RNN of Eq. 80, whose state is r = (hidden layer of F, hidden layer of G): A = [W1 W3, 0; W6 W3, 0],
/// B = [W2 W3, 0; 0, 0], C = [W4; 0].
Dynamics construction(const Networks& f, std::int64_t m) {
  const std::size_t first = f.w1.size(), second = f.w6.size(), units = first + second,
                    inputs = f.w4[0].size();
  Dynamics cell(delayed_rnn(static_cast<std::int64_t>(units), static_cast<std::int64_t>(inputs), m), 0, 1);
  const auto put = [&](const char* name, std::size_t row, const Matrix& w, std::size_t columns) {
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < w[i].size(); ++j)
        cell.weight(name).set(static_cast<std::int64_t>((row + i) * columns + j), w[i][j]);
  };
  const auto product_w3 = [&](const Matrix& w) {
    Matrix p(w.size(), Vector(first, 0));
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t k = 0; k < f.w3.size(); ++k)
        for (std::size_t j = 0; j < first; ++j) p[i][j] += w[i][k] * f.w3[k][j];
    return p;
  };
  put("A", 0, product_w3(f.w1), units);
  put("A", first, product_w3(f.w6), units);
  put("B", 0, product_w3(f.w2), units);
  put("C", 0, f.w4, inputs);
  put("b", 0, {f.b1}, units);
  for (std::size_t i = 0; i < second; ++i)
    cell.weight("b").set(static_cast<std::int64_t>(first + i), f.b2[i]);
  return cell;
}

TEST_CASE(
    "Theorem 4: the construction of Eq. 80 is the delay system of two networks, whose output comes a step "
    "later") {
  constexpr std::size_t kSize = 3, kHidden = 5, kOutputs = 2, kSteps = 40;
  double felt = 0;
  for (const std::int64_t m : {0, 1, 6}) {
    CAPTURE(m);
    const auto matrix = [](std::size_t rows, std::size_t columns, std::uint64_t seed) {
      return random_inputs(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), 0.9, seed);
    };
    const Networks f{.w1 = matrix(kHidden, kSize, 1),
                     .w2 = matrix(kHidden, kSize, 2),
                     .w3 = matrix(kSize, kHidden, 3),
                     .w4 = matrix(kHidden, 2, 4),
                     .w6 = matrix(4, kSize, 5),
                     .w7 = matrix(kOutputs, 4, 6),
                     .b1 = random_state(kHidden, 0.5, 7),
                     .b2 = random_state(4, 0.5, 8)};
    const Matrix u = random_inputs(kSteps, 2, 1, 9);
    const Matrix r = construction(f, m).run(Vector(kHidden + 4, 0), u);
    Matrix s = {Vector(kSize, 0)};
    for (std::size_t n = 0; n < kSteps; ++n) {
      const auto delay = static_cast<std::size_t>(m);
      const Vector past = times(f.w2, n >= delay ? s[n - delay] : Vector(kSize, 0));
      const Vector output = times(f.w7, hidden({times(f.w6, s[n]), f.b2}));
      const Vector made = times(f.w7, Vector(r[n].begin() + kHidden, r[n].end()));
      for (std::size_t i = 0; i < kOutputs; ++i) CHECK(made[i] == doctest::Approx(output[i]).epsilon(1e-12));
      s.push_back(times(f.w3, hidden({times(f.w1, s[n]), past, times(f.w4, u[n]), f.b1})));
      const Vector state = times(f.w3, Vector(r[n].begin(), r[n].begin() + kHidden));
      for (std::size_t i = 0; i < kSize; ++i) CHECK(state[i] == doctest::Approx(s[n + 1][i]).epsilon(1e-12));
      felt = std::max(felt, largest(past));
    }
  }
  CHECK(felt > 0.5);
}

TEST_CASE("Theorem 4: the delayed RNN follows s' = r s (1 - s[-m]) + u as closely as one likes") {
  // A product is a difference of squares, and a square is the second difference of tanh around 1, divided by
  // tanh''(1) e^2: (tanh(1 + e x) + tanh(1 - e x) - 2 tanh(1)) / (e^2 tanh''(1)) = x^2 + O(e^2).
  constexpr std::size_t kSteps = 40;
  const double t = std::tanh(1), second = -2 * t * (1 - t * t);
  for (const std::size_t m : {0, 1, 2}) {
    CAPTURE(m);
    const double rate = m == 2 ? 1.5 : 2.1;
    const Matrix u = random_inputs(kSteps, 1, 0.02, 3);
    Vector truth = {0.2};
    for (std::size_t n = 0; n < kSteps; ++n)
      truth.push_back(rate * truth[n] * (1 - (n >= m ? truth[n - m] : 0)) + u[n][0]);
    Vector errors;
    for (const double e : {0.1, 0.05, 0.025}) {
      // Hidden: tanh(1 +- e (s + q)), tanh(1 +- e (s - q)) with q = s[-m]; tanh(1); s and u as (tanh(e x) / e).
      const double square = -rate / (4 * e * e * second), linear = rate / e;
      const Networks f{.w1 = {{e}, {-e}, {e}, {-e}, {0}, {e}, {0}},
                       .w2 = {{e}, {-e}, {-e}, {e}, {0}, {0}, {0}},
                       .w3 = {{square, square, -square, -square, 0, linear, 1 / e}},
                       .w4 = {{0}, {0}, {0}, {0}, {0}, {0}, {e}},
                       .w6 = {{e}},
                       .w7 = {{1 / e}},
                       .b1 = {1, 1, 1, 1, 1, 0, 0},
                       .b2 = {0}};
      // The state that represents s[0]: only the hidden unit of s is not zero.
      Vector start(8, 0);
      start[5] = truth[0] / linear;
      const Matrix r = construction(f, static_cast<std::int64_t>(m)).run(start, u);
      double error = 0;
      for (std::size_t n = 1; n < kSteps; ++n) error = std::max(error, std::abs(r[n][7] / e - truth[n]));
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
