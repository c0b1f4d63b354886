#include "lagtape/optim/ridge.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

constexpr int kRows = 40, kIn = 5, kOut = 2;

double x_at(int row, int i) { return std::sin((0.4 + 0.37 * i) * row) + (i == 3 ? 4 : 0); }
double y_at(int row, int o) { return std::cos(0.3 * row * (o + 1)) + 2 * x_at(row, 1) - o; }

RidgeSums sums() {
  RidgeSums result(kIn, kOut);
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> x, y;
    for (int i = 0; i < kIn; ++i) x.push_back(x_at(row, i));
    for (int o = 0; o < kOut; ++o) y.push_back(y_at(row, o));
    result.add(x, y);
  }
  return result;
}

TEST_CASE(
    "the weights of ridge regression make the gradient of its loss zero, and the bias is not penalized") {
  for (const double alpha : {0.0, 1e-6, 3.0}) {
    CAPTURE(alpha);
    const RidgeSums::Solution solution = sums().solve(alpha);
    double squares = 0;
    for (int o = 0; o < kOut; ++o) {
      double sum = 0;
      std::vector<double> slope(kIn);
      for (int row = 0; row < kRows; ++row) {
        double residual = y_at(row, o) - solution.bias[o];
        for (int i = 0; i < kIn; ++i) residual -= solution.weights.at(o, i) * x_at(row, i);
        for (int i = 0; i < kIn; ++i) slope[i] += residual * x_at(row, i);
        sum += residual;
        squares += residual * residual;
      }
      CHECK(sum == doctest::Approx(0).epsilon(1e-10));
      for (int i = 0; i < kIn; ++i)
        CHECK(slope[i] == doctest::Approx(alpha * solution.weights.at(o, i)).epsilon(1e-10));
      CHECK(std::abs(solution.weights.at(o, 1)) > 0.1);
    }
    CHECK(solution.mean_square == doctest::Approx(squares / (kRows * kOut)).epsilon(1e-9));
    CHECK(solution.mean_square > 0.01);
  }
}

TEST_CASE("columns that depend on each other need a penalty") {
  RidgeSums twice(2, 1);
  for (const double v : {1.0, 2.0, 4.0}) twice.add(std::vector<double>{v, 2 * v}, std::vector<double>{v});
  CHECK_THROWS_WITH_AS(twice.solve(0), doctest::Contains("the states depend on each other"), InputError);
  const RidgeSums::Solution solution = twice.solve(1e-6);
  CHECK(solution.weights.at(0, 0) + 2 * solution.weights.at(0, 1) == doctest::Approx(1).epsilon(1e-5));
}

}  // namespace
}  // namespace lagtape
