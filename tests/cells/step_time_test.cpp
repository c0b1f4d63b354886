// Cells in continuous time whose input says how long each step is, beside loops over units.

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/cells/cornn.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/core/error.h"
#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

/// Splits the sequence's two columns into the time of each step and the other column.
struct Timed {
  double dt;
  Vector x;
};
std::vector<Timed> timed_sequence() {
  std::vector<Timed> steps;
  for (const Vector& x : sequence()) steps.push_back({x[1], {x[0]}});
  return steps;
}

TEST_CASE("lem with a time of each step") {
  for (const bool multiscale : {true, false}) {
    std::vector<Vector> outputs;
    Vector z(kUnits), y(kUnits);
    for (const auto& [dt, x] : timed_sequence()) {
      const auto activation = [&](const std::string& i, const Vector& from, int unit) {
        return affine("W" + i, from, unit) + affine("V" + i, x, unit);
      };
      const auto scale = [&](const std::string& i, int unit) {
        return 0.7 * dt * (multiscale ? sigmoid(activation(i, y, unit)) : 1);
      };
      Vector z_next(kUnits), y_next(kUnits);
      for (int i = 0; i < kUnits; ++i)
        z_next[i] = z[i] + scale("1", i) * (std::tanh(activation("z", y, i)) - z[i]);
      for (int i = 0; i < kUnits; ++i)
        y_next[i] = y[i] + scale("2", i) * (std::tanh(activation("y", z_next, i)) - y[i]);
      z = z_next;
      y = y_next;
      outputs.push_back(y);
    }
    check_equal(run(Lem{.units = 3, .dt = 0.7, .multiscale = multiscale, .reads = {-1}}.build(2)), outputs);
  }
}

TEST_CASE("cornn with a time of each step, by its number") {
  std::vector<Vector> outputs;
  Vector z(kUnits), y(kUnits);
  for (const auto& [dt, x] : timed_sequence()) {
    Vector z_next(kUnits), y_next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double drive = std::tanh(linear("Wz", z, i) + linear("Wy", y, i) + affine("V", x, i));
      z_next[i] = z[i] + 0.3 * dt * (drive - 2 * y[i] - 0.5 * z[i]);
      y_next[i] = y[i] + 0.3 * dt * z_next[i];
    }
    z = z_next;
    y = y_next;
    outputs.push_back(y);
  }
  check_equal(run(CoRnn{.units = 3, .dt = 0.3, .gamma = 2, .epsilon = 0.5, .reads = {1}}.build(2)), outputs);
}

TEST_CASE("tau_gru with a time of each step; delays are steps as before") {
  for (const bool gating : {true, false}) {
    const std::vector<Timed> x = timed_sequence();
    std::vector<Vector> h = {Vector(kUnits)};
    for (int n = 0; n < kSteps; ++n) {
      const Vector past = n >= 3 ? h[n - 3] : Vector(kUnits);
      Vector next(kUnits);
      for (int i = 0; i < kUnits; ++i) {
        const auto activation = [&](const std::string& k, const Vector& from) {
          return affine("W" + k, from, i) + affine("U" + k, x[n].x, i);
        };
        const double drive = std::tanh(activation("1", h[n])) +
                             sigmoid(activation("4", h[n])) * std::tanh(activation("2", past));
        next[i] = h[n][i] + x[n].dt * (gating ? sigmoid(activation("3", h[n])) : 1) * (drive - h[n][i]);
      }
      h.push_back(next);
    }
    h.erase(h.begin());
    check_equal(run(TauGru{.units = 3, .tau = {{3}}, .gating = gating, .reads = {-1}}.build(2)), h);
  }
}

TEST_CASE("unicornn with a time of each step, which each of its layers hands on") {
  const std::vector<Layer> layers =
      Unicornn{.units = 3, .layers = 2, .dt = {0.4}, .alpha = 0.5, .dropout = 0, .reads = {-1}}.build(2);
  std::vector<Vector> outputs;
  Vector z(kUnits), y(kUnits);
  for (const auto& [dt, x] : timed_sequence()) {
    Vector passed(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double s = 0.4 * dt * sigmoid(weight_of("c", kUnits)[i]);
      z[i] -= s * (std::tanh(weight_of("w", kUnits)[i] * y[i] + affine("V", x, i)) + 0.5 * y[i]);
      passed[i] = y[i] + s * z[i];
    }
    y = passed;
    passed.push_back(dt);
    outputs.push_back(passed);
  }
  REQUIRE(layers.size() == 2);
  check_equal(run(layers[0]), outputs);
  CHECK(layers[1].program.input.size == 4);
  CHECK(layers[1].program.values[layers[1].program.output].shape.size == 3);
}

TEST_CASE("a time of a step that is not there, or is all there is") {
  CHECK_THROWS_AS((Lem{.units = 3, .reads = {2}}.build(2)), InputError);
  CHECK_THROWS_AS((Lem{.units = 3, .reads = {-3}}.build(2)), InputError);
  CHECK_THROWS_AS((Lem{.units = 3, .reads = {-1}}.build(1)), InputError);
}

}  // namespace
}  // namespace lagtape
