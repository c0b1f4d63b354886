#include "lagtape/cells/lem.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

std::vector<Vector> lem_by_hand(double dt, bool multiscale, double smallest, double largest) {
  std::vector<Vector> outputs;
  Vector z(kUnits), y(kUnits);
  for (const Vector& x : sequence()) {
    const auto activation = [&](const std::string& i, const Vector& from, int unit) {
      return affine("W" + i, from, unit) + affine("V" + i, x, unit);
    };
    const auto scale = [&](const std::string& i, int unit) {
      return multiscale ? std::clamp(dt * sigmoid(activation(i, y, unit)), smallest, largest) : dt;
    };
    Vector z_next(kUnits), y_next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double dz = scale("1", i);
      z_next[i] = (1 - dz) * z[i] + dz * std::tanh(activation("z", y, i));
    }
    for (int i = 0; i < kUnits; ++i) {
      const double dy = scale("2", i);
      y_next[i] = (1 - dy) * y[i] + dy * std::tanh(activation("y", z_next, i));
    }
    z = z_next;
    y = y_next;
    outputs.push_back(y);
  }
  return outputs;
}

TEST_CASE("lem computes the paper's equations, with one time scale and with clipped ones too") {
  check_equal(run(Lem{.units = 3}.build(2)), lem_by_hand(1, true, 0, 1));
  check_equal(run(Lem{.units = 3, .dt = 1.9}.build(2)), lem_by_hand(1.9, true, 0, 1.9));
  check_equal(run(Lem{.units = 3, .dt = 0.3, .multiscale = false}.build(2)), lem_by_hand(0.3, false, 0, 0));
  check_equal(run(Lem{.units = 3, .dt = 1.9, .smallest_scale = 0.75}.build(2)),
              lem_by_hand(1.9, true, 0.75, 1));
}

TEST_CASE("chrono starts all biases of lem from zero but that of the slow state's scale") {
  for (const ParameterDefinition& parameter : Lem{.units = 4, .dt = 0.5, .chrono = 100}.build(2).parameters) {
    const bool is_bias = parameter.name.ends_with(".bias");
    CHECK(parameter.initializer == (parameter.name == "W1.bias" ? Initializer::log_uniform(-1, 49)
                                    : is_bias                   ? Initializer::constant(0)
                                                                : Initializer::uniform(-0.5, 0.5)));
  }
}

}  // namespace
}  // namespace lagtape
