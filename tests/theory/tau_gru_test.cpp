#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/cells/tau_gru.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Statements of "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback" about its cell. More of it, on the
// engine alone: tests/ops/recurrence/tau_gru_facts_test.cpp.

namespace lagtape {
namespace {

using namespace test;

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

TEST_CASE("Theorem 1: two solutions of the delay equation part no faster than exp(K t)") {
  constexpr double kStep = 1.0 / 64;
  constexpr int kUnits = 6, kSteps = 128;
  double fastest = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Dynamics cell(TauGru{.units = kUnits, .tau = {0.25}, .dt = kStep, .gating = false}.build(2), 3, seed);
    for (const char* map : {"W1", "W2", "W4", "U1", "U2", "U4"}) cell.fill(std::string(map) + ".bias", 0);
    // The Lipschitz constant of the equation without its gate, in the largest norm.
    const double k = 1 + cell.row_sum_norm("W1") + cell.row_sum_norm("W2") + cell.row_sum_norm("W4") / 4;
    const Vector start = random_state(kUnits, 1e-3, seed);
    Vector other = start;
    other[0] += 1e-6;
    const Matrix x = random_inputs(kSteps, 2, 1e-3, seed), a = cell.run(start, x), b = cell.run(other, x);
    for (int n = 0; n < kSteps; ++n) {
      Vector apart(kUnits);
      for (int i = 0; i < kUnits; ++i) apart[i] = a[n][i] - b[n][i];
      const double growth = std::log(largest(apart) / 1e-6), t = (n + 1) * kStep;
      CHECK(growth <= k * t + 1e-9);
      fastest = std::max(fastest, growth / (k * t));
    }
  }
  CHECK(fastest > 0.05);  // solutions do part, at a rate of the bound's order
}

TEST_CASE("Proposition 3, corrected: B[j] = (1 + C - e) B[j-1] + |W2| B[j-m-1] bounds d h[k+j] / d h[k]") {
  constexpr int kUnits = 5, kSteps = 24;
  double tightest = 0;
  for (const std::int64_t m : {0, 1, 3, 7}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(m);
      CAPTURE(seed);
      Dynamics cell(TauGru{.units = kUnits, .tau = {static_cast<double>(m)}}.build(2), 0.6, seed);
      const Vector start = random_state(kUnits, 1, seed);
      const Matrix x = random_inputs(kSteps, 2, 1, seed);
      double gate = 1;  // the smallest entry of all g: the proof needs it at every step
      for (const Vector& g : cell.named("g", start, x)) gate = std::min(gate, *std::ranges::min_element(g));
      const double c = cell.row_sum_norm("W1") + cell.row_sum_norm("W3") + cell.row_sum_norm("W4") / 4;
      const double p = 1 + c - gate, q = cell.row_sum_norm("W2");
      Vector bound = {1};
      for (int j = 1; j <= kSteps; ++j) {
        bound.push_back(p * bound[j - 1] + (j - m - 1 >= 0 ? q * bound[j - m - 1] : 0));
        const double norm = row_sum_norm(cell.jacobian(start, Matrix(x.begin(), x.begin() + j)));
        CHECK(norm <= bound[j]);
        tightest = std::max(tightest, norm / bound[j]);
      }
    }
  }
  CHECK(tightest > 0.2);
}

TEST_CASE(
    "Proposition 3 as printed leaves out paths: after six steps a gradient of 2.83 stands above its 0.141") {
  // h' = h / 2 + tanh(2 h[-1]) / 2, linearized at zero: P[j] = P[j-1] / 2 + P[j-2].
  Dynamics cell(TauGru{.units = 1, .tau = {1}}.build(1), 0, 1);
  cell.fill("W2", 2);
  cell.fill("W4.bias", 40);  // a = 1
  Vector p = {1, 0.5};
  for (int j = 2; j <= 6; ++j) p.push_back(p[j - 1] / 2 + p[j - 2]);
  for (int j = 1; j <= 6; ++j) {
    CHECK(cell.jacobian({0}, Matrix(j, {0.0}))[0][0] == doctest::Approx(p[j]).epsilon(1e-12));
  }
  CHECK(p[6] == doctest::Approx(2.83).epsilon(1e-3));
  // Printed: the paths of six steps, and those through the delay that begin with it.
  const double printed = std::pow(0.5, 6) + 2 * std::pow(0.5, 4);
  CHECK(printed == doctest::Approx(0.141).epsilon(3e-3));
  CHECK(p[6] > 20 * printed);
}

// ---- h'(t) = g (u + a z - h), z = tanh(W2 h(t - tau) + ...), solved by a method of order four ----

/// The delay equation of a cell, with x(t) = (sin 2t, cos 3t) and zeros before t = 0.
class DelayEquation {
 public:
  DelayEquation(Dynamics& cell, double tau) : cell_(cell), tau_(tau) {}

  static Vector input(double t) { return {std::sin(2 * t), std::cos(3 * t)}; }

  /// h(end) by the classical Runge-Kutta method. `step` divides tau; between two steps the past is a cubic of
  /// Hermite's.
  Vector solve(double end, double step, std::size_t units) {
    step_ = step;
    h_ = {Vector(units, 0)};
    slope_ = {slope(0, h_[0])};
    for (int n = 0; n * step < end - 1e-12; ++n) {
      const double t = n * step;
      const Vector& h = h_.back();
      const Vector k1 = slope_.back(), k2 = slope(t + step / 2, moved(h, k1, step / 2)),
                   k3 = slope(t + step / 2, moved(h, k2, step / 2)), k4 = slope(t + step, moved(h, k3, step));
      Vector next = h;
      for (std::size_t i = 0; i < units; ++i) next[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
      h_.push_back(next);
      slope_.push_back(slope(t + step, next));
    }
    return h_.back();
  }

 private:
  static Vector moved(Vector h, const Vector& slope, double by) {
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += by * slope[i];
    return h;
  }

  double affine(const std::string& gate, const Vector& h, const Vector& x, std::size_t i) {
    double sum = cell_.weight("W" + gate + ".bias").at(i) + cell_.weight("U" + gate + ".bias").at(i);
    for (std::size_t j = 0; j < h.size(); ++j) sum += cell_.weight("W" + gate).at(i * h.size() + j) * h[j];
    for (std::size_t j = 0; j < x.size(); ++j) sum += cell_.weight("U" + gate).at(i * x.size() + j) * x[j];
    return sum;
  }

  Vector slope(double t, const Vector& h) {
    const Vector past = at(t - tau_), x = input(t);
    Vector result(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double u = std::tanh(affine("1", h, x, i)), z = std::tanh(affine("2", past, x, i)),
                   g = sigmoid(affine("3", h, x, i)), a = sigmoid(affine("4", h, x, i));
      result[i] = g * (u + a * z - h[i]);
    }
    return result;
  }

  Vector at(double t) const {
    if (t <= 0) return Vector(h_[0].size(), 0);
    const auto n = static_cast<std::size_t>(t / step_ + 1e-9);
    const double s = t / step_ - static_cast<double>(n);
    if (s < 1e-6) return h_[n];
    Vector value(h_[n].size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      value[i] = (1 + 2 * s) * (1 - s) * (1 - s) * h_[n][i] + s * (1 - s) * (1 - s) * step_ * slope_[n][i] +
                 s * s * (3 - 2 * s) * h_[n + 1][i] - s * s * (1 - s) * step_ * slope_[n + 1][i];
    }
    return value;
  }

  Dynamics& cell_;
  double tau_;
  double step_ = 0;
  Matrix h_, slope_;
};

TEST_CASE("the discrete tau-GRU converges to its delay equation, with order one in dt") {
  constexpr std::size_t kUnits = 4;
  constexpr double kTau = 1, kEnd = 3;
  std::vector<double> errors;
  for (const int steps : {32, 64, 128, 256}) {
    const double dt = kTau / steps;
    Dynamics cell(TauGru{.units = kUnits, .tau = {kTau}, .dt = dt}.build(2), 1.5, 5);
    const Vector exact = DelayEquation(cell, kTau).solve(kEnd, 1.0 / 64, kUnits);
    Matrix x;
    for (int n = 0; n * dt < kEnd - 1e-12; ++n) x.push_back(DelayEquation::input(n * dt));
    Vector apart = cell.run(Vector(kUnits, 0), x).back();
    for (std::size_t i = 0; i < kUnits; ++i) apart[i] -= exact[i];
    errors.push_back(largest(apart));
  }
  CHECK(errors.front() > 1e-4);  // the step is seen
  for (std::size_t i = 1; i < errors.size(); ++i)
    CHECK(std::log2(errors[i - 1] / errors[i]) == doctest::Approx(1).epsilon(0.1));
}

}  // namespace
}  // namespace lagtape
