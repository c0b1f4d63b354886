#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lagtape/cells/lem.h"
#include "lagtape/tests/theory/support/dynamics.h"

// The contribution of a single step to the gradients of LEM, and its order in the time step.

namespace lagtape {
namespace {

using namespace test;

constexpr std::size_t kUnits = 3;
constexpr double kTarget = 1, kMove = 1e-4;

double loss_of(const Vector& state) {
  double loss = 0;
  for (std::size_t i = kUnits; i < state.size(); ++i) loss += (state[i] - kTarget) * (state[i] - kTarget) / 2;
  return loss;
}

/// x(t) = (1 + sin 2t, cos 3t) over the time 0 .. 1.
Matrix inputs(int steps) {
  Matrix x;
  for (int n = 0; n < steps; ++n) {
    const double t = static_cast<double>(n) / steps;
    x.push_back({1 + std::sin(2 * t), std::cos(3 * t)});
  }
  return x;
}

Dynamics lem(int steps, std::uint64_t seed) {
  return Dynamics(Lem{.units = kUnits, .dt = 1.0 / steps}.build(2), 1, seed);
}

/// The change of the loss |y_N - target|^2 / 2 for a unit change of a weight in the steps first .. last alone.
double contribution(Dynamics& cell, const std::string& name, const Matrix& x, std::size_t first,
                    std::size_t last) {
  const auto part = [&](std::size_t from, std::size_t to, const Vector& start) {
    if (from == to) return start;
    const auto at = [&](std::size_t n) { return x.begin() + static_cast<std::ptrdiff_t>(n); };
    return cell.run(start, Matrix(at(from), at(to))).back();
  };
  Tensor& w = cell.weight(name);
  const double value = w.at(0);
  const Vector before = part(0, first, Vector(2 * kUnits, 0));
  double slope = 0;
  for (const int side : {-1, 1}) {
    w.set(0, value + side * kMove);
    const Vector moved = part(first, last + 1, before);
    w.set(0, value);
    slope += side * loss_of(part(last + 1, x.size(), moved)) / (2 * kMove);
  }
  return slope;
}

/// The powers of dt with which the contribution of step k falls, from one halving of dt to the next.
Vector orders(const std::string& weight, std::size_t k, std::uint64_t seed) {
  Vector values, found;
  for (const int steps : {64, 128, 256}) {
    Dynamics cell = lem(steps, seed);
    values.push_back(std::abs(contribution(cell, weight, inputs(steps), k, k)));
  }
  for (std::size_t i = 1; i < values.size(); ++i) found.push_back(std::log2(values[i - 1] / values[i]));
  return found;
}

TEST_CASE("the contributions of single steps add up to the gradient" * doctest::test_suite("slow")) {
  constexpr int kSteps = 32;
  Dynamics cell = lem(kSteps, 1);
  const Matrix x = inputs(kSteps);
  for (const char* weight : {"W1", "W2", "Wz", "Wy", "Wz.bias"}) {
    double sum = 0;
    for (std::size_t k = 0; k < kSteps; ++k) sum += contribution(cell, weight, x, k, k);
    const double all = contribution(cell, weight, x, 0, kSteps - 1);
    CHECK(std::abs(all) > 1e-6);
    CHECK(sum == doctest::Approx(all).scale(0).epsilon(1e-5));
  }
}

TEST_CASE("Proposition 4.3: the contribution of an early step to recurrent weights is O(dt^(3/2))") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const char* weight : {"W1", "W2", "Wz", "Wy"}) {
      CAPTURE(weight);
      for (const double order : orders(weight, 4, seed)) {
        CHECK(order >= 1.5);
        CHECK(order < 3.5);  // a power of dt; an exponential decay would have no bound
      }
    }
  }
}

TEST_CASE(
    "Proposition 4.3 is one of weights which a state is multiplied with: early biases contribute in order "
    "dt") {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const double order : orders("Wz.bias", 4, seed)) CHECK(order == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("Proposition 4.3: contributions do not vanish with the distance, 250 steps or 60 before the end") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Dynamics cell = lem(256, seed);
    const Matrix x = inputs(256);
    const double early = std::abs(contribution(cell, "Wz.bias", x, 5, 5)),
                 late = std::abs(contribution(cell, "Wz.bias", x, 195, 195));
    CHECK(early > late / 5);
  }
}

// ---- Appendix E.2: what a step contributes, to the leading orders of dt ----

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Pre-activations of a gate or candidate of LEM: rows of W from + V x with both biases.
Vector drive(Dynamics& cell, const std::string& name, const double* from, const Vector& x) {
  Vector sums(kUnits);
  for (std::size_t i = 0; i < kUnits; ++i) {
    sums[i] = cell.weight("W" + name + ".bias").at(i) + cell.weight("V" + name + ".bias").at(i);
    for (std::size_t j = 0; j < kUnits; ++j) sums[i] += cell.weight("W" + name).at(i * kUnits + j) * from[j];
    for (std::size_t j = 0; j < x.size(); ++j) sums[i] += cell.weight("V" + name).at(i * x.size() + j) * x[j];
  }
  return sums;
}

/// Equation 45 for the weight Wy[0][0] and step k. `sign` is that of its last term: 1 as in Equation 50, -1 as printed.
double leading_orders(Dynamics& cell, double dt, const Matrix& x, std::size_t k, double sign) {
  Matrix states = cell.run(Vector(2 * kUnits, 0), x);
  states.insert(states.begin(), Vector(2 * kUnits, 0));
  double direct = 0, kept = 1;
  Vector through(kUnits, 0);  // dt sum over later steps of W2[j][0] sigmoid'(B[j]) (tanh D[j] - y[j])
  for (std::size_t n = k; n < x.size(); ++n) {
    const double *before = states[n].data() + kUnits, *after = states[n + 1].data();
    const Vector b = drive(cell, "2", before, x[n]), d = drive(cell, "y", after, x[n]);
    if (n == k) {
      direct = dt * sigmoid(b[0]) * (1 - std::tanh(d[0]) * std::tanh(d[0])) * after[0];
      continue;
    }
    kept -= dt * sigmoid(b[0]);
    for (std::size_t j = 0; j < kUnits; ++j)
      through[j] += dt * cell.weight("W2").at(j * kUnits) * sigmoid(b[j]) * (1 - sigmoid(b[j])) *
                    (std::tanh(d[j]) - before[j]);
  }
  double sum = 0;
  for (std::size_t j = 0; j < kUnits; ++j)
    sum += (states.back()[kUnits + j] - kTarget) * ((j == 0 ? kept : 0) + sign * through[j]);
  return direct * sum;
}

TEST_CASE(
    "Appendix E.2: Equation 45, with the sign of Equation 50, is off by the square of dt, as printed by dt") {
  constexpr int kSteps = 12;
  constexpr std::size_t kStep = 3;
  for (const double sign : {1.0, -1.0}) {
    CAPTURE(sign);
    Vector errors;  // the largest of the seeds, which a chance of one of them does not decide
    for (const double dt : {0.02, 0.01, 0.005}) {
      double error = 0;
      for (const std::uint64_t seed : {1, 2, 3}) {
        Dynamics cell(Lem{.units = kUnits, .dt = dt}.build(2), 1, seed);
        const Matrix x = inputs(kSteps);
        const double exact = contribution(cell, "Wy", x, kStep, kStep);
        error = std::max(error, std::abs(leading_orders(cell, dt, x, kStep, sign) / exact - 1));
      }
      errors.push_back(error);
    }
    CHECK(errors[2] > 1e-7);
    for (std::size_t i = 1; i < errors.size(); ++i)
      CHECK(std::log2(errors[i - 1] / errors[i]) == doctest::Approx(sign > 0 ? 2 : 1).epsilon(0.15));
  }
}

}  // namespace
}  // namespace lagtape
