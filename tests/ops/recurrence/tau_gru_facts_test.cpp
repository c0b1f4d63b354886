#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Facts that the paper proves about the tau-GRU, and linear delayed recurrences in closed form.

namespace lagtape {
namespace {

using namespace test;

constexpr int kUnits = 5, kInput = 3;

SequenceCase tau_gru_case(std::int64_t tau, std::int64_t rows, std::int64_t steps, double weight_scale) {
  StackDefinition stack;
  stack.layers = {tau_gru(kUnits, kInput, tau)};
  SequenceCase c = filled(stack, rows, steps, 11);
  for (Tensor& weight : c.weights) {
    for (std::int64_t i = 0; i < weight.numel(); ++i) weight.set(i, weight_scale * weight.at(i));
  }
  return c;
}

Tensor& weight(SequenceCase& c, const std::string& name) {
  const auto& weights = c.stack.layers[0].weights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].name == name) return c.weights[i];
  }
  throw Error("no weight is named " + name);
}

/// d(output i at the last step) / d(input), one row: [units][numel of the input tensor with that name].
std::vector<Tensor> jacobian(SequenceCase c, const std::string& of, std::int64_t outputs) {
  c.stack.at = ReadAt::last_step;
  std::vector<Tensor> rows;
  ThreadPool pool(1);
  SequenceOp op(c.stack, c.dtype());
  for (std::int64_t i = 0; i < outputs; ++i) {
    Tape tape;
    std::vector<Var> inputs;
    for (const Tensor& tensor : differentiable(c)) inputs.push_back(tape.variable(tensor));
    const std::size_t x = c.weights.size();
    const Var y = op.outputs(tape, std::span(inputs).first(x), inputs[x], c.batch, pool,
                             std::span(inputs).subspan(x + 1));
    Tensor seed(y.shape(), y.dtype());
    seed.set(i, 1);
    tape.backward(y, seed);
    rows.push_back(inputs[of == "x" ? x : x + 1].grad());
  }
  return rows;
}

/// W v with W [n, k].
std::vector<double> times(const Tensor& w, const std::vector<double>& v) {
  std::vector<double> y(w.size(0), 0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < v.size(); ++j) y[i] += w.at(i * v.size() + j) * v[j];
  }
  return y;
}

TEST_CASE("the state of a tau-GRU stays within -2 and 2, whatever weights and inputs") {
  double largest = 0;
  for (const double scale : {1.0, 10.0, 100.0}) {
    SequenceCase c = tau_gru_case(6, 16, 200, scale);
    for (std::int64_t i = 0; i < c.batch.x.numel(); ++i) c.batch.x.set(i, scale * c.batch.x.at(i));
    const Tensor h = named(run_evaluate(c), "outputs");
    for (std::int64_t i = 0; i < h.numel(); ++i) largest = std::max(largest, std::abs(h.at(i)));
  }
  CHECK(largest <= 2);
  CHECK(largest > 1.9);
}

TEST_CASE("the delayed weights of a tau-GRU act from h[m+2] on") {
  for (const std::int64_t m : {0, 1, 4, 15, 16, 40}) {
    CAPTURE(m);
    SequenceCase c = tau_gru_case(m, 3, 60, 1);
    const Tensor before = named(run_evaluate(c), "outputs");
    Tensor& w2 = weight(c, "W2");
    w2.set(0, w2.at(0) + 1);
    const Tensor after = named(run_evaluate(c), "outputs");
    CHECK(bit_difference(part(after, 1, 0, m + 1), part(before, 1, 0, m + 1)) == "");
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto next = [&](const Tensor& h) { return part(part(h, 0, row, row + 1), 1, m + 1, m + 2); };
      CHECK(bit_difference(next(after), next(before)) != "");
    }
  }
}

TEST_CASE("the Jacobians of a tau-GRU step are those of the paper") {
  constexpr std::int64_t m = 3;
  SequenceCase c = tau_gru_case(m, 1, 1, 1);
  add_initial(c, 12);
  const Tensor& window = c.initial[0];  // h[-m] .. h[0]
  std::vector<double> h, delayed, x;
  for (int j = 0; j < kUnits; ++j) {
    delayed.push_back(window.at(j));
    h.push_back(window.at(m * kUnits + j));
  }
  for (int j = 0; j < kInput; ++j) x.push_back(c.batch.x.at(j));
  const auto activation = [&](const std::string& i, const std::vector<double>& from) {
    std::vector<double> a = times(weight(c, "W" + i), from);
    const std::vector<double> b = times(weight(c, "U" + i), x);
    for (int j = 0; j < kUnits; ++j)
      a[j] += b[j] + weight(c, "W" + i + ".bias").at(j) + weight(c, "U" + i + ".bias").at(j);
    return a;
  };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const auto u = activation("1", h), z = activation("2", delayed), g = activation("3", h),
             a = activation("4", h);

  const std::vector<Tensor> gradients = jacobian(c, "h", kUnits);
  Tensor expected({m + 1, 1, kUnits}, Dtype::f64);
  for (int i = 0; i < kUnits; ++i) {
    const double ui = std::tanh(u[i]), zi = std::tanh(z[i]), gi = sigmoid(g[i]), ai = sigmoid(a[i]);
    for (int j = 0; j < kUnits; ++j) {
      const auto w = [&](const char* name) { return weight(c, name).at(i * kUnits + j); };
      const double now = (i == j ? 1 - gi : 0) + gi * (1 - ui * ui) * w("W1") +
                         gi * zi * ai * (1 - ai) * w("W4") + gi * (1 - gi) * (ui + ai * zi - h[i]) * w("W3");
      expected.set(m * kUnits + j, now);
      expected.set(j, gi * ai * (1 - zi * zi) * w("W2"));
    }
    CHECK(difference(gradients[i], expected).relative <= 1e-12);
  }
}

// ---- h' = A h + B h[-m] + C x with A B = B A ----

using Matrix = std::vector<std::vector<double>>;

Matrix identity() {
  Matrix m(kUnits, std::vector<double>(kUnits, 0));
  for (int i = 0; i < kUnits; ++i) m[i][i] = 1;
  return m;
}

Matrix matrix_of(const Tensor& t) {
  Matrix m(t.size(0), std::vector<double>(t.size(1)));
  for (std::int64_t i = 0; i < t.numel(); ++i) m[i / t.size(1)][i % t.size(1)] = t.at(i);
  return m;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size(), 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Matrix power(const Matrix& a, std::int64_t n) {
  Matrix p = identity();
  for (std::int64_t i = 0; i < n; ++i) p = p * a;
  return p;
}

double binomial(std::int64_t n, std::int64_t k) {
  double value = 1;
  for (std::int64_t i = 1; i <= k; ++i)
    value = value * static_cast<double>(n - k + i) / static_cast<double>(i);
  return value;
}

TEST_CASE("gradients of a linear delayed recurrence have their closed form, for every lag in time") {
  constexpr std::int64_t kSteps = 40;
  for (const std::int64_t m : {0, 1, 2, 5, 16, 50}) {
    CAPTURE(m);
    StackDefinition stack;
    stack.layers = {equations(kUnits, kInput, {"A [units, units]", "B [units, units]", "C [units, input]"},
                              {text_of("h' = A @ h + B @ h[-", m, "] + C @ x")})};
    SequenceCase c = filled(stack, 1, kSteps, 13);
    const Matrix a = matrix_of(weight(c, "A")), square = a * a;
    for (int i = 0; i < kUnits; ++i) {
      for (int j = 0; j < kUnits; ++j)
        weight(c, "B").set(i * kUnits + j, 0.4 * square[i][j] + (i == j ? 0.3 : 0));
    }
    const Matrix b = matrix_of(weight(c, "B")), input = matrix_of(weight(c, "C"));

    std::vector<Tensor> expected(kUnits, Tensor());
    for (Tensor& row : expected) row = Tensor({1, kSteps, kInput}, Dtype::f64);
    for (std::int64_t n = 0; n < kSteps; ++n) {
      const std::int64_t r = kSteps - 1 - n;
      for (std::int64_t k = 0; k * (m + 1) <= r; ++k) {
        const Matrix term = power(a, r - k * (m + 1)) * power(b, k) * input;
        for (int i = 0; i < kUnits; ++i) {
          for (int j = 0; j < kInput; ++j) {
            const std::int64_t place = n * kInput + j;
            expected[i].set(place, expected[i].at(place) + binomial(r - k * m, k) * term[i][j]);
          }
        }
      }
    }
    const std::vector<Tensor> gradients = jacobian(c, "x", kUnits);
    for (int i = 0; i < kUnits; ++i) CHECK(difference(gradients[i], expected[i]).relative <= 1e-12);
  }
}

}  // namespace
}  // namespace lagtape
