#include "lagtape/ops/signal_loss.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

// The losses esr and dc of a column: their formulas by hand, and gradients against central differences.

namespace lagtape::test {
namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

double loss_of(const std::vector<double>& y, const std::vector<double>& target, double pre_emphasis,
               double esr, double dc) {
  std::vector<double> error(y.size());
  for (std::size_t n = 0; n < y.size(); ++n) error[n] = y[n] - target[n];
  SignalSums sums;
  const auto steps = std::ssize(target);
  add_target_energy(sums, target.data(), steps, 1, pre_emphasis);
  add_errors(sums, error.data(), 1, target.data(), steps, 1, pre_emphasis);
  const SignalFactors factors = signal_factors(sums, esr, dc);
  return factors.error * sums.error + factors.bias * sums.bias;
}

TEST_CASE("esr is the energy of the errors divided by that of the targets") {
  CHECK(loss_of({1, 2, 3}, {1, 1, 1}, 0, 1, 0) == doctest::Approx(5.0 / 3).epsilon(1e-14));
  CHECK(loss_of({1, 2, 3}, {2, 0, kNone}, 0, 1, 0) == doctest::Approx(5.0 / 4).epsilon(1e-14));
  CHECK(loss_of({0, 0, 0}, {2, 1, -3}, 0, 1, 0) == 1);
}

TEST_CASE("dc is the squared mean of the errors divided by the mean square of the targets") {
  CHECK(loss_of({1, 2, 3}, {1, 1, 1}, 0, 0, 1) == doctest::Approx(1.0).epsilon(1e-14));
  CHECK(loss_of({2, 0, 3, 1}, {1, 1, kNone, 2}, 0.5, 0, 2) ==
        doctest::Approx(2 * (1.0 / 9) / (6.0 / 3)).epsilon(1e-14));
  CHECK(loss_of({2, 0}, {1, 1}, 0, 0, 1) == 0);
}

TEST_CASE("pre-emphasis takes a share of the step before, where that has a target") {
  // Errors 1, 0, 2: with c = 0.5 the second and the third count, as -0.5 and 2; targets 1 and 2 become 1.5 and 2.5.
  CHECK(loss_of({2, 2, 5}, {1, 2, 3}, 0.5, 1, 0) ==
        doctest::Approx((0.25 + 4) / (1.5 * 1.5 + 2 * 2)).epsilon(1e-14));
  CHECK(loss_of({2, 2, 5, 7}, {1, kNone, 3, 5}, 0.5, 1, 0) ==
        doctest::Approx(std::pow(2 - 0.5 * 2, 2) / std::pow(5 - 1.5, 2)).epsilon(1e-14));
  CHECK(loss_of({3, 3, 3, 3}, {1, 1, 1, 1}, 1, 1, 0) == 0);  // a constant is not heard
}

TEST_CASE("silence is divided by the smallest energy, and without a target the loss is 0") {
  CHECK(loss_of({1e-3, -1e-3}, {0, 0}, 0, 1, 0) == doctest::Approx(1).epsilon(1e-12));
  CHECK(loss_of({1, 2}, {kNone, kNone}, 0.5, 1, 1) == 0);
}

TEST_CASE("gradients of esr and dc agree with central differences") {
  const std::vector<double> target = {0.3, -1, kNone, 0.4, 2, 0.1, kNone, 0.6};
  // The last step follows one without a target: with pre-emphasis it counts for dc alone.
  const std::vector<double> y = {0.1, 0.5, 3, -0.4, 1, 0.7, 2, -1.3};
  for (const double pre_emphasis : {0.0, 0.85, 1.0}) {
    for (const double dc : {0.0, 0.7}) {
      CAPTURE(pre_emphasis);
      SignalSums sums;
      add_target_energy(sums, target.data(), std::ssize(target), 1, pre_emphasis);
      std::vector<double> gradient(y.size());
      for (std::size_t n = 0; n < y.size(); ++n) gradient[n] = std::isnan(target[n]) ? 0 : y[n] - target[n];
      errors_to_gradient(gradient.data(), target.data(), std::ssize(target), 1, pre_emphasis,
                         signal_factors(sums, 1, dc));
      for (std::size_t n = 0; n < y.size(); ++n) {
        constexpr double kStep = 1e-6;
        std::vector<double> above = y, below = y;
        above[n] += kStep;
        below[n] -= kStep;
        const double wanted =
            (loss_of(above, target, pre_emphasis, 1, dc) - loss_of(below, target, pre_emphasis, 1, dc)) /
            (2 * kStep);
        CHECK(std::abs(gradient[n] - wanted) < 1e-9);
        CHECK((gradient[n] != 0) == (!std::isnan(target[n]) && (n < 7 || pre_emphasis == 0 || dc > 0)));
      }
    }
  }
}

}  // namespace
}  // namespace lagtape::test
