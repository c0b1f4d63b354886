#include "lagtape/cells/tau_gru.h"

#include <doctest/doctest.h>

#include <cmath>

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
  check_equal(run(TauGru{.units = 3, .tau = 4}.build(2)), tau_gru_by_hand(4, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 0}.build(2)), tau_gru_by_hand(0, 1, 1, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 2, .dt = 0.4, .alpha = 0.7, .beta = -1.5}.build(2)),
              tau_gru_by_hand(5, 0.4, 0.7, -1.5, true, true));
}

TEST_CASE("the ablations of tau_gru compute theirs") {
  check_equal(run(TauGru{.units = 3, .tau = 4, .alpha = 0}.build(2)),
              tau_gru_by_hand(4, 1, 0, 1, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .beta = 0}.build(2)), tau_gru_by_hand(4, 1, 1, 0, true, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .weighting = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, false, true));
  check_equal(run(TauGru{.units = 3, .tau = 4, .gating = false}.build(2)),
              tau_gru_by_hand(4, 1, 1, 1, true, false));
  check_equal(run(TauGru{.units = 3, .tau = 4, .dt = 0.5, .gating = false}.build(2)),
              tau_gru_by_hand(8, 0.5, 1, 1, true, false));
}

TEST_CASE("the lag of tau_gru is floor(tau / dt)") {
  const auto lag = [](double tau, double dt) {
    return TauGru{.units = 2, .tau = tau, .dt = dt}.build(1).program.largest_lag();
  };
  CHECK(lag(20, 1) == 20);
  CHECK(lag(2.9, 1) == 2);
  CHECK(lag(0.9, 1) == 0);
  CHECK(lag(5, 0.3) == 16);
  CHECK(lag(0.3, 0.1) == 3);  // 2.9999999999999996 in doubles
}

}  // namespace
}  // namespace lagtape
