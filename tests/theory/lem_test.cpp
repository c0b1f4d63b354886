#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/cells/lem.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Statements of "Long Expressive Memory for Sequence Modeling" about its cell. A state is (z, y).

namespace lagtape {
namespace {

using namespace test;

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// max of the row sums of W1, W2, Wz, Wy.
double eta(Dynamics& cell) {
  double norm = 0;
  for (const char* name : {"W1", "W2", "Wz", "Wy"}) norm = std::max(norm, cell.row_sum_norm(name));
  return norm;
}

double gamma_of(Dynamics& cell) { return 2 * (1 + eta(cell)) * (1 + 3 * eta(cell)); }

TEST_CASE(
    "Proposition 4.1: from zero, |z| and |y| stay below min(1, (1 + dt) / sqrt(2 - dt) sqrt(n dt)) for dt <= "
    "1") {
  constexpr int kUnits = 6, kSteps = 100;
  for (const double dt : {0.05, 0.3, 1.0}) {
    double tightest = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Dynamics cell(Lem{.units = kUnits, .dt = dt}.build(2), 5, seed);
      const Matrix states = cell.run(Vector(2 * kUnits, 0), random_inputs(kSteps, 2, 5, seed));
      for (int n = 1; n <= kSteps; ++n) {
        const double bound = std::min(1.0, (1 + dt) / std::sqrt(2 - dt) * std::sqrt(n * dt));
        CHECK(largest(states[n - 1]) <= bound);
        tightest = std::max(tightest, largest(states[n - 1]) / bound);
      }
    }
    CHECK(tightest > 0.8);
  }
}

TEST_CASE("Proposition 4.1 needs dt <= 1: with 1.9, which the paper trains with, states leave [-1, 1]") {
  double far = 0;
  const Dynamics cell(Lem{.units = 6, .dt = 1.9}.build(2), 5, 1);
  for (const Vector& state : cell.run(Vector(12, 0), random_inputs(100, 2, 5, 1)))
    far = std::max(far, largest(state));
  CHECK(far > 1.5);
}

/// Equations (27) to (29), entry by entry, of one step.
Matrix jacobian_of_paper(Dynamics& cell, double dt, const Vector& state, const Vector& x) {
  const std::size_t d = state.size() / 2;
  const Vector after = cell.run(state, {x})[0];
  const auto w = [&](const char* name, std::size_t i, std::size_t j) {
    return cell.weight(name).at(i * d + j);
  };
  const auto drive = [&](const std::string& gate, std::size_t i, const double* from) {
    double sum = cell.weight("W" + gate + ".bias").at(i) + cell.weight("V" + gate + ".bias").at(i);
    for (std::size_t j = 0; j < d; ++j) sum += cell.weight("W" + gate).at(i * d + j) * from[j];
    for (std::size_t j = 0; j < x.size(); ++j) sum += cell.weight("V" + gate).at(i * x.size() + j) * x[j];
    return sum;
  };
  const double *z = state.data(), *y = state.data() + d;
  Matrix jacobian(2 * d, Vector(2 * d, 0));
  const auto gate_slope = [](double a) { return sigmoid(a) * (1 - sigmoid(a)); };
  for (std::size_t i = 0; i < d; ++i) {
    const double a = drive("1", i, y), c = std::tanh(drive("z", i, y));
    for (std::size_t j = 0; j < d; ++j) {
      jacobian[i][j] = i == j ? 1 - dt * sigmoid(a) : 0;
      jacobian[i][d + j] =
          dt * (w("W1", i, j) * gate_slope(a) * (c - z[i]) + w("Wz", i, j) * sigmoid(a) * (1 - c * c));
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    const double b = drive("2", i, y), t = std::tanh(drive("y", i, after.data())),
                 open = dt * sigmoid(b) * (1 - t * t);
    for (std::size_t j = 0; j < d; ++j) {
      jacobian[d + i][d + j] =
          (i == j ? 1 - dt * sigmoid(b) : 0) + dt * w("W2", i, j) * gate_slope(b) * (t - y[i]);
      for (std::size_t l = 0; l < d; ++l) {
        jacobian[d + i][j] += open * w("Wy", i, l) * jacobian[l][j];
        jacobian[d + i][d + j] += open * w("Wy", i, l) * jacobian[l][d + j];
      }
    }
  }
  return jacobian;
}

TEST_CASE("the Jacobian of a step is that of Equations 27 to 29") {
  for (const double dt : {0.1, 1.0, 1.9}) {
    Dynamics cell(Lem{.units = 4, .dt = dt}.build(3), 1, 7);
    const Vector state = random_state(8, 0.9, 7);
    const Matrix x = random_inputs(1, 3, 1, 7), expected = jacobian_of_paper(cell, dt, state, x[0]),
                 got = cell.jacobian(state, x);
    double smallest = 1;
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        CHECK(got[i][j] == doctest::Approx(expected[i][j]).epsilon(1e-10));
        if (i >= 4) smallest = std::min(smallest, std::abs(expected[i][j]));
      }
    }
    CHECK(smallest > 1e-8);
  }
}

TEST_CASE("Equation 33: a step's Jacobian has a norm of at most 1 + dt Gamma / 2") {
  double tightest = 0;
  for (const double dt : {0.01, 0.1, 1.0}) {
    for (const double scale : {0.02, 0.2, 1.0}) {
      Dynamics cell(Lem{.units = 5, .dt = dt}.build(2), scale, 3);
      const double bound = 1 + gamma_of(cell) / 2 * dt;
      for (const std::uint64_t seed : {1, 2, 3, 4}) {
        const double norm =
            row_sum_norm(cell.jacobian(random_state(10, 1, seed), random_inputs(1, 2, 1, seed)));
        CHECK(norm <= bound);
        tightest = std::max(tightest, (norm - 1) / (bound - 1));
      }
    }
  }
  CHECK(tightest > 0.01);
}

/// d/dw of (y_n - target)^2 / 2 for a single unit, by central differences in one number of a weight.
double loss_slope(Dynamics& cell, const std::string& name, std::int64_t at, const Matrix& x, double target) {
  constexpr double kStep = 1e-8;
  Tensor& w = cell.weight(name);
  const double value = w.at(at);
  const auto loss = [&](double moved) {
    w.set(at, moved);
    const double y = cell.run({0, 0}, x).back()[1];
    w.set(at, value);
    return (y - target) * (y - target) / 2;
  };
  return (loss(value + kStep) - loss(value - kStep)) / (2 * kStep);
}

TEST_CASE("Proposition 4.2: gradients stay below (1 + |target|) (t + Gamma t^2) while Gamma t <= 2.5") {
  constexpr double kStep = 0.01, kTarget = 1;
  double tightest = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Dynamics cell(Lem{.units = 1, .dt = kStep}.build(1), 0.2, seed);
    const double gamma = gamma_of(cell);
    const int steps = static_cast<int>(2.5 / gamma / kStep);
    REQUIRE(steps > 10);
    const double t = steps * kStep, bound = (1 + kTarget) * (t + gamma * t * t);
    const Matrix x = random_inputs(steps, 1, 1, seed);
    for (const char* name : {"W1", "W2", "Wz", "Wy", "V1", "V2", "Vz", "Vy", "Wz.bias", "Wy.bias"}) {
      const double slope = std::abs(loss_slope(cell, name, 0, x, kTarget));
      CHECK(slope <= bound);
      tightest = std::max(tightest, slope / bound);
    }
  }
  CHECK(tightest > 0.02);
}

TEST_CASE("Proposition 4.2 fails later: at t = 3 a gradient of 21,573 stands above its bound of 3,462") {
  constexpr double kStep = 0.01, kTarget = 1;
  Dynamics cell(Lem{.units = 1, .dt = kStep}.build(1), 0, 1);
  cell.fill("Wz", 5);
  cell.fill("Wy", 5);
  cell.fill("W1.bias", 40);  // open gates
  cell.fill("W2.bias", 40);
  const double t = 300 * kStep, bound = (1 + kTarget) * (t + gamma_of(cell) * t * t);
  CHECK(bound == doctest::Approx(3462).epsilon(1e-3));
  CHECK(std::abs(loss_slope(cell, "Wy.bias", 0, Matrix(300, {0.0}), kTarget)) ==
        doctest::Approx(21573).epsilon(1e-3));
}

}  // namespace
}  // namespace lagtape
