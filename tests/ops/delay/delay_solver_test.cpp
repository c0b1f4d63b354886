#include "lagtape/ops/delay/delay_solver.h"

#include <doctest/doctest.h>

#include "lagtape/ops/delay/observed_history.h"

// Whole solutions and their derivatives are tested through cells/models/delay_equations.

namespace lagtape {
namespace {

/// The sum of the weights of a method, each times its stage's time to a power.
double moment(const Tableau& tableau, int power) {
  double sum = 0;
  for (std::size_t i = 0; i < tableau.b.size(); ++i) {
    double term = tableau.b[i];
    for (int k = 0; k < power; ++k) term *= tableau.c[i];
    sum += term;
  }
  return sum;
}

TEST_CASE("the weights of a method integrate the polynomials of its order") {
  for (const OdeMethod method : {OdeMethod::euler, OdeMethod::heun, OdeMethod::rk4}) {
    const Tableau tableau = tableau_of(method);
    REQUIRE(tableau.b.size() == tableau.c.size());
    for (int power = 0; power < order_of(method); ++power)
      CHECK(moment(tableau, power) == doctest::Approx(1.0 / (power + 1)).epsilon(1e-15));
  }
  CHECK(order_of(OdeMethod::rk4) == 4);
  CHECK(moment(tableau_of(OdeMethod::euler), 1) != doctest::Approx(0.5));
}

TEST_CASE("a history of readings is a parabola where they are one, and a line beyond them") {
  const ObservedHistory readings{.times = {-3, -2, -0.5, 0}, .values = {9, 4, 0.25, 0}};
  const std::vector<double> slopes = slopes_of(readings);
  REQUIRE(slopes.size() == 4);
  CHECK(slopes[1] == doctest::Approx(-4));
  for (const double t : {-2.9, -2.5, -1.0, -0.1}) {
    const auto [value, slope, bend] = read_history(readings, slopes, t);
    CHECK(value == doctest::Approx(t * t));
    CHECK(slope == doctest::Approx(2 * t));
    CHECK(bend == doctest::Approx(2));
  }
  const auto [value, slope, bend] = read_history(readings, slopes, -4);
  CHECK(value == doctest::Approx(15));
  CHECK(slope == doctest::Approx(-6));
  CHECK(bend == 0);
}

}  // namespace
}  // namespace lagtape
