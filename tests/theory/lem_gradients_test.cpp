#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lagtape/cells/lem.h"
#include "lagtape/tests/theory/support/dynamics.h"

// What a single step contributes to the gradients of LEM, and how that falls with the time step.

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

TEST_CASE("the contributions of single steps add up to the gradient") {
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

}  // namespace
}  // namespace lagtape
