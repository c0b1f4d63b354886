#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/cells/unicornn.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Statements of "UnICORNN: A recurrent model for learning very long time dependencies" about a layer. A state is (z, y)
// in the order in which the cell declares them.

namespace lagtape {
namespace {

using namespace test;

constexpr std::size_t kUnits = 4;

Unicornn options(double dt, double alpha) {
  return {.units = kUnits, .layers = 1, .dt = {dt}, .alpha = alpha, .dropout = 0};
}

Dynamics layer(double dt, double alpha, std::uint64_t seed) {
  Dynamics cell(options(dt, alpha).build(2)[0], 1, seed);
  cell.fill("s", dt / 2);  // s = dt sigmoid(c), here with c = 0
  return cell;
}

TEST_CASE(
    "a step's Jacobian is [1, -s k; s, 1 - s^2 k] for each unit, with k = w tanh' + alpha, and no unit sees "
    "another") {
  constexpr double kStep = 0.7, kAlpha = 1.5;
  Dynamics cell = layer(kStep, kAlpha, 2);
  const Vector state = random_state(2 * kUnits, 1, 2);
  const Matrix x = random_inputs(1, 2, 1, 2), jacobian = cell.jacobian(state, x);
  for (std::size_t i = 0; i < kUnits; ++i) {
    const double s = cell.weight("s").at(i), w = cell.weight("w").at(i), y = state[kUnits + i];
    double drive = w * y + cell.weight("V.bias").at(i);
    for (std::size_t j = 0; j < 2; ++j) drive += cell.weight("V").at(i * 2 + j) * x[0][j];
    const double k = w * (1 - std::tanh(drive) * std::tanh(drive)) + kAlpha;
    for (std::size_t j = 0; j < 2 * kUnits; ++j) {
      double z_row = 0, y_row = 0;
      if (j == i) z_row = 1, y_row = s;
      if (j == kUnits + i) z_row = -s * k, y_row = 1 - s * s * k;
      CHECK(jacobian[i][j] == doctest::Approx(z_row).epsilon(1e-12));
      CHECK(jacobian[kUnits + i][j] == doctest::Approx(y_row).epsilon(1e-12));
    }
  }
}

TEST_CASE("areas in the plane of a unit's z and y are kept over hundreds of steps: determinant 1") {
  for (const double alpha : {0.0, 2.0}) {
    Dynamics cell = layer(0.5, alpha, 3);
    const Matrix jacobian = cell.jacobian(random_state(2 * kUnits, 1, 3), random_inputs(300, 2, 1, 3));
    for (std::size_t i = 0; i < kUnits; ++i) {
      const double a = jacobian[i][i], b = jacobian[i][kUnits + i], c = jacobian[kUnits + i][i],
                   d = jacobian[kUnits + i][kUnits + i];
      CHECK(a * d - b * c == doctest::Approx(1).epsilon(1e-7));
      CHECK(std::abs(b) + std::abs(c) > 0.01);
    }
  }
}

TEST_CASE("without an input the Hamiltonian of Equation 4 swings by O(dt), for a long time") {
  constexpr double kAlpha = 0.5;
  Vector swings;
  for (const double dt : {0.1, 0.05, 0.025}) {
    Dynamics cell = layer(dt, kAlpha, 4);
    cell.fill("s", dt);  // as with c far above zero
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kUnits); ++i)
      cell.weight("w").set(i, 0.5 + 0.4 * static_cast<double>(i));
    const auto energy = [&](const Vector& state) {
      double h = 0;
      for (std::size_t i = 0; i < kUnits; ++i) {
        const double z = state[i], y = state[kUnits + i], w = cell.weight("w").at(i);
        h += kAlpha / 2 * y * y + z * z / 2 + std::log(std::cosh(w * y + cell.weight("V.bias").at(i))) / w;
      }
      return h;
    };
    const Vector start = random_state(2 * kUnits, 2, 4);
    const Matrix states = cell.run(start, Matrix(static_cast<std::size_t>(200 / dt), Vector(2, 0)));
    double swing = 0;
    for (const Vector& state : states) swing = std::max(swing, std::abs(energy(state) - energy(start)));
    swings.push_back(swing);
    CHECK(swing < 2 * dt * energy(start));
  }
  CHECK(swings[0] > 1e-3);
  for (std::size_t i = 1; i < swings.size(); ++i)
    CHECK(std::log2(swings[i - 1] / swings[i]) == doctest::Approx(1).epsilon(0.15));
}

struct Bounds {
  double y, z;
};

/// Proposition C.1.
Bounds bounds_of_paper(double alpha, double t) {
  const double beta = std::max(1 + 2 * alpha, 4 * alpha * alpha), energy = 1 + 2 * beta * t;
  return {std::sqrt(2 / alpha * energy), std::sqrt(2 * energy)};
}

TEST_CASE(
    "Proposition C.1: |y| <= sqrt(2 (1 + 2 b t) / alpha) and |z| <= sqrt(2 (1 + 2 b t)) while b t <= 1.25") {
  constexpr double kStep = 0.01;
  double tightest = 0;
  for (const double alpha : {0.25, 0.5, 1.0, 2.0}) {
    const double beta = std::max(1 + 2 * alpha, 4 * alpha * alpha);
    const int steps = static_cast<int>(1.25 / beta / kStep);
    for (const std::uint64_t seed : {1, 2, 3}) {
      Dynamics cell = layer(kStep, alpha, seed);
      cell.fill("s", kStep);  // as with c far above zero
      const Matrix states = cell.run(Vector(2 * kUnits, 0), Matrix(steps, random_state(2, 20, seed)));
      for (int n = 1; n <= steps; ++n) {
        const Bounds bounds = bounds_of_paper(alpha, n * kStep);
        for (std::size_t i = 0; i < kUnits; ++i) {
          CHECK(std::abs(states[n - 1][i]) <= bounds.z);
          CHECK(std::abs(states[n - 1][kUnits + i]) <= bounds.y);
          tightest = std::max(tightest, std::abs(states[n - 1][i]) / bounds.z);
        }
      }
    }
  }
  CHECK(tightest > 0.1);
}

TEST_CASE("Proposition C.1 fails later: an input against z lifts a unit above its bounds") {
  constexpr double kStep = 0.01;
  for (const auto& [alpha, expected] : {std::pair{0.25, 15.2}, {0.5, 19.9}, {1.0, 40.7}}) {
    // The input that a resonance needs, from the equations: tanh(V x) = -sign(z).
    Matrix x;
    double z = 0, y = 0;
    for (int n = 0; n < 5000; ++n) {
      const double push = z >= 0 ? -1 : 1;
      x.push_back({20 * push, 0});
      z -= kStep * (std::tanh(20 * push) + alpha * y);
      y += kStep * z;
    }
    Dynamics cell = layer(kStep, alpha, 1);
    for (const char* name : {"w", "V.bias", "V"}) cell.fill(name, 0);
    cell.fill("s", kStep);  // as with c far above zero
    cell.weight("V").set(0, 1);
    const Matrix states = cell.run(Vector(2 * kUnits, 0), x);
    int above = 0;
    while (above < 5000) {
      const Bounds bounds = bounds_of_paper(alpha, (above + 1) * kStep);
      if (std::abs(states[above][0]) > bounds.z || std::abs(states[above][kUnits]) > bounds.y) break;
      ++above;
    }
    CHECK((above + 1) * kStep == doctest::Approx(expected).epsilon(0.01));
  }
}

}  // namespace
}  // namespace lagtape
