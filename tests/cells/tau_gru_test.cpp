#include "lagtape/cells/tau_gru.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

std::vector<Vector> tau_gru_by_hand(int lag, double dt, double alpha, double beta, bool weighting,
                                    bool gating) {
  return expected(lag, [=](const Vector& h, const Vector& past, const Vector& x, int i) {
    const double u = std::tanh(affine("W1", h, i) + affine("U1", x, i));
    const double z = std::tanh(affine("W2", past, i) + affine("U2", x, i));
    const double g = gating ? sigmoid(affine("W3", h, i) + affine("U3", x, i)) : 1;
    const double a = weighting ? sigmoid(affine("W4", h, i) + affine("U4", x, i)) : 1;
    return h[i] + dt * g * (beta * u + alpha * a * z - h[i]);
  });
}

TEST_CASE("tau_gru computes the paper's equations") {
  check_equal(run(TauGru{.units = 3, .tau = {4}}.build(2)), tau_gru_by_hand(4, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = {0}}.build(2)), tau_gru_by_hand(0, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = {2}, .dt = 0.4, .alpha = 0.7, .beta = -1.5}.build(2)),
              tau_gru_by_hand(5, 0.4, 0.7, -1.5, true, true));
}

TEST_CASE("the ablations of tau_gru compute their own equations") {
  check_equal(run(TauGru{.units = 3, .tau = {4}, .alpha = 0}.build(2)),
              tau_gru_by_hand(4, 1, 0, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = {4}, .beta = 0}.build(2)),
              tau_gru_by_hand(4, 1, 1, 0, true, true));
  check_equal(run(TauGru{.units = 3, .tau = {4}, .weighting = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, false, true));
  check_equal(run(TauGru{.units = 3, .tau = {4}, .gating = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, true, false));
  check_equal(run(TauGru{.units = 3, .tau = {4}, .dt = 0.5, .gating = false}.build(2)),
              tau_gru_by_hand(8, 0.5, 1, 1, true, false));
}

/// Three states of one past step, as h[n-tau] between two steps; each unit with its own tau.
std::vector<Vector> several_by_hand(const std::vector<std::array<double, kUnits>>& tau, bool numbered) {
  std::vector<Vector> h = {Vector(kUnits)};
  const std::vector<Vector> x = sequence();
  const auto state = [&](int n) { return n >= 0 ? h[n] : Vector(kUnits); };
  for (int n = 0; n < kSteps; ++n) {
    Vector next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      double drive = std::tanh(affine("W1", h[n], i) + affine("U1", x[n], i));
      for (std::size_t k = 0; k < tau.size(); ++k) {
        const std::string number = numbered ? text_of("_", k + 1) : "";
        Vector past(kUnits);
        for (int j = 0; j < kUnits; ++j) {
          const int near = static_cast<int>(tau[k][j]);
          const double f = tau[k][j] - near;
          past[j] = (1 - f) * state(n - near)[j] + f * state(n - near - 1)[j];
        }
        const double z = std::tanh(affine("W2" + number, past, i) + affine("U2" + number, x[n], i));
        drive += sigmoid(affine("W4" + number, h[n], i) + affine("U4" + number, x[n], i)) * z;
      }
      const double g = sigmoid(affine("W3", h[n], i) + affine("U3", x[n], i));
      next[i] = (1 - g) * h[n][i] + g * drive;
    }
    h.push_back(next);
  }
  h.erase(h.begin());
  return h;
}

TEST_CASE("several delays have a z and an a each") {
  check_equal(run(TauGru{.units = kUnits, .tau = {1, 4, 7}}.build(kInputs)),
              several_by_hand({{1, 1, 1}, {4, 4, 4}, {7, 7, 7}}, true));
}

TEST_CASE("a delay that is trained interpolates between two steps, for the layer or unit by unit") {
  const auto tau_of = [](const std::string& name, int unit) {
    return std::clamp(1 + 4 * std::abs(weight_of(name, kUnits)[unit]), 1.0, 5.0);
  };
  const auto with_lags = [&](const Layer& layer) {
    return run(layer, [&](const std::string& name, std::int64_t count) {
      if (!name.starts_with("tau")) return weight_of(name, count);
      Vector tau;
      for (int i = 0; i < count; ++i) tau.push_back(tau_of(name, i));
      return tau;
    });
  };
  const double tau = tau_of("tau", 0), first = tau_of("tau_1", 0);
  check_equal(with_lags(TauGru{.units = kUnits, .tau = Delay::trained(5, 3)}.build(kInputs)),
              several_by_hand({{tau, tau, tau}}, false));
  check_equal(with_lags(TauGru{.units = kUnits, .tau = Delay::trained_each_unit(5)}.build(kInputs)),
              several_by_hand({{tau, tau_of("tau", 1), tau_of("tau", 2)}}, false));
  check_equal(with_lags(TauGru{.units = kUnits, .tau = {Delay::trained(5, 3), 2}}.build(kInputs)),
              several_by_hand({{first, first, first}, {2, 2, 2}}, true));
}

TEST_CASE("a delay that is trained starts where it is told and is kept between 1 and its largest") {
  const auto tau_of = [](const Delay& delay) {
    return TauGru{.units = kUnits, .tau = {delay}}.build(kInputs).parameters[0];
  };
  const ParameterDefinition layer = tau_of(Delay::trained(65, 20)),
                            unit = tau_of(Delay::trained_each_unit(65));
  CHECK(layer.name == "tau");
  CHECK(layer.shape == Shape{});
  CHECK(layer.initializer == Initializer::constant(20));
  CHECK(layer.bounds == Bounds{1, 65});
  CHECK(unit.shape == Shape{kUnits});
  CHECK(unit.initializer == Initializer::uniform(1, 65));
  CHECK(unit.bounds == Bounds{1, 65});
}

/// The public implementation, which moves two variables on after a step.
std::vector<Vector> code_by_hand(int tau, double dt) {
  std::vector<Vector> h = {Vector(kUnits)};
  const std::vector<Vector> x = sequence();
  Vector h_late(kUnits), x_late(kInputs);
  for (int t = 0; t < kSteps; ++t) {
    Vector next(kUnits);
    for (int i = 0; i < kUnits; ++i) {
      const double u = std::tanh(affine("W1", h[t], i) + affine("U1", x[t], i));
      const double z = std::tanh(affine("W2", h_late, i) + affine("U2", x_late, i));
      const double g = dt * sigmoid(affine("W3", h[t], i) + affine("U3", x[t], i));
      const double a = sigmoid(affine("W4", h_late, i) + affine("U4", x_late, i));
      next[i] = (1 - g) * h[t][i] + g * (u + a * z);
    }
    h.push_back(next);
    if (t >= tau) {
      h_late = h[t + 1 - (tau - 1)];
      x_late = x[t + 1 - tau];
    }
  }
  h.erase(h.begin());
  return h;
}

TEST_CASE("the form 'code' is that of the public implementation") {
  for (const int tau : {1, 2, 5}) {
    check_equal(
        run(TauGru{.units = kUnits, .tau = {static_cast<double>(tau)}, .dt = 0.7, .form = "code"}.build(
            kInputs)),
        code_by_hand(tau, 0.7));
  }
  check_equal(run(TauGru{.units = kUnits, .tau = {0}, .form = "code"}.build(kInputs)),
              tau_gru_by_hand(0, 1, 1, 1, true, true));
}

TEST_CASE("the lag of tau_gru is floor(tau / dt)") {
  const auto lag = [](double tau, double dt) {
    return TauGru{.units = 2, .tau = {tau}, .dt = dt}.build(1).program.largest_lag();
  };
  CHECK(lag(20, 1) == 20);
  CHECK(lag(2.9, 1) == 2);
  CHECK(lag(0.9, 1) == 0);
  CHECK(lag(5, 0.3) == 16);
  CHECK(lag(0.3, 0.1) == 3);  // 2.9999999999999996 in doubles
}

}  // namespace
}  // namespace lagtape
