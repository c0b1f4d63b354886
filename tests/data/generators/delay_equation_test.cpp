#include "lagtape/data/generators/delay_equation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace lagtape;

namespace {

/// The error of x' = -x(t - 1), x = 1 before 0, at t = 2.75 with a step of 1 / delay. The exact value there
/// is x = 1 - t + (t - 1)^2 / 2 - (t - 2)^3 / 6.
double error_at_the_end(std::int64_t delay, HalfStep half_step) {
  const auto x = integrate_delay_equation([](double, double, double delayed) { return -delayed; }, 1.0,
                                          {.step = 1.0 / static_cast<double>(delay),
                                           .delay = delay,
                                           .steps = 11 * delay / 4,
                                           .half_step = half_step});
  return x.back() - (1 - 2.75 + 1.75 * 1.75 / 2 - 0.75 * 0.75 * 0.75 / 6);
}

}  // namespace

TEST_CASE("the delay integrator is exact where the solution is a polynomial") {
  // x' = -x(t - 1), x = 1 before 0: x = 1 - t on [0, 1], then x = 1 - t + (t - 1)^2 / 2 on [1, 2].
  for (HalfStep half_step : {HalfStep::linear, HalfStep::cubic, HalfStep::hermite}) {
    // Over the last step before 2, the cubic through four uses a value from beyond the kink at 1.
    const std::int64_t steps = half_step == HalfStep::cubic ? 15 : 16;
    const auto x =
        integrate_delay_equation([](double, double, double delayed) { return -delayed; }, 1.0,
                                 {.step = 0.125, .delay = 8, .steps = steps, .half_step = half_step});
    for (std::int64_t n = 0; n <= steps; ++n) {
      CAPTURE(n);
      const double t = 0.125 * static_cast<double>(n), late = std::max(0.0, t - 1);
      CHECK(x[static_cast<std::size_t>(n)] == doctest::Approx(1 - t + late * late / 2).epsilon(1e-12));
    }
  }
}

TEST_CASE("each rule between the points of the grid has its order") {
  auto order = [](HalfStep half_step) {
    return std::log2(error_at_the_end(16, half_step) / error_at_the_end(32, half_step));
  };
  CHECK(order(HalfStep::held) == doctest::Approx(1).epsilon(0.1));
  CHECK(order(HalfStep::linear) == doctest::Approx(2).epsilon(0.1));
  CHECK(std::abs(error_at_the_end(16, HalfStep::hermite)) < 1e-13);
}

TEST_CASE("without a delay it is the Runge-Kutta method of order 4") {
  auto error = [](std::int64_t steps) {  // x' = -2 t x, x(0) = 1
    const auto x =
        integrate_delay_equation([](double t, double, double same) { return -2 * t * same; }, 1.0,
                                 {.step = 1.0 / static_cast<double>(steps), .delay = 0, .steps = steps});
    return x.back() - std::exp(-1.0);
  };
  CHECK(std::log2(error(16) / error(32)) == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("a delay of one step uses the solution's own last step") {
  // x' = -x(t - 1): one step of 1 from x = 1 gives 0 (all delayed values are 1), the next x(2) = -1/2.
  for (HalfStep half_step : {HalfStep::linear, HalfStep::cubic, HalfStep::hermite}) {
    const auto x = integrate_delay_equation([](double, double, double delayed) { return -delayed; }, 1.0,
                                            {.step = 1, .delay = 1, .steps = 2, .half_step = half_step});
    CHECK(x == std::vector<double>{1, 0, -0.5});
  }
}
