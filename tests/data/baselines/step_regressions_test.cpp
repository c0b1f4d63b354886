#include "lagtape/data/baselines/step_regressions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace lagtape;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct Row {
  std::vector<double> x;  ///< of which the first two are shared
  double y;
};

Row row_of(int i) {
  const double n = i;
  const std::vector<double> x = {std::sin(1.3 * n * n + 0.2), std::cos(0.7 * n * n),
                                 100 + 3 * std::sin(2.1 * n * n + 2)};
  return {x, 5 + 2 * x[0] - x[1] + 0.5 * x[2] + 0.3 * std::sin(3.3 * n * n)};
}

/// The rows first to last - 1 as data of two steps, of which the second has twice the target and misses it in row 0.
StepProducts products_of(int first, int last, double error = 0) {
  StepProducts products({.shared = 2, .own = 1, .targets = 1, .steps = 2});
  for (int i = first; i < last; ++i) {
    const auto [x, y] = row_of(i);
    const double own[] = {x[2], x[2]}, targets[] = {y + error, i == 0 ? kMissing : 2 * y};
    products.add(x.data(), own, targets);
  }
  return products;
}

void check_weights(const double* found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-7));
}

}  // namespace

// The numbers are NumPy's, of (Z'Z/n + penalty) w = Z'y/n with standardized Z.
TEST_CASE(
    "regressions are the exact ridge solutions, with the penalty that predicts the validation rows best") {
  const StepProducts none({.shared = 2, .own = 1, .targets = 1, .steps = 2});
  const StepRegressions usual(products_of(0, 40), none);
  check_weights(usual.weights(0, 0), {6.060479984759425, 2.02553474, -1.0179337984, 0.4887320269});
  const StepRegressions chosen(products_of(0, 40), products_of(0, 40));
  check_weights(chosen.weights(0, 0), {6.003268515621407, 2.0275036191, -1.0188603312, 0.4893073633});
  const Row one = row_of(3);
  CHECK(chosen.predict(one.x.data(), one.x.data() + 2, 0, 0) == doctest::Approx(one.y).epsilon(0.01));
  // On the rows of nothing but the mean the largest penalty is best.
  StepProducts flat({.shared = 2, .own = 1, .targets = 1, .steps = 2});
  for (int i = 0; i < 40; ++i) {
    const std::vector<double> x = row_of(i).x;
    const double own[] = {x[2], x[2]}, targets[] = {54.9, 109.8};
    flat.add(x.data(), own, targets);
  }
  check_weights(StepRegressions(products_of(0, 40), flat).weights(0, 0),
                {32.541191000333924, 1.030928122, -0.5379810559, 0.2224205389});
}

TEST_CASE("a row is left out of the step whose target it misses") {
  const StepProducts all = products_of(0, 40), without = products_of(1, 40);
  CHECK(all.rows(0) == 40);
  CHECK(all.rows(1) == 39);
  CHECK(without.rows(1) == 39);
  const std::vector<double> found = all.at(1), expected = without.at(1);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-9));
  CHECK(all.at(0) != without.at(0));
}

TEST_CASE("a number that is constant has no weight") {
  StepProducts products({.shared = 2, .own = 0, .targets = 1, .steps = 1});
  for (int i = 0; i < 30; ++i) {
    const double shared[] = {std::sin(1.0 * i), 1e5}, target = 4 * std::sin(1.0 * i);
    products.add(shared, nullptr, &target);
  }
  const StepRegressions regressions(products, products);
  CHECK(regressions.weights(0, 0)[1] == doctest::Approx(4).epsilon(1e-6));
  CHECK(regressions.weights(0, 0)[2] == 0);
}
