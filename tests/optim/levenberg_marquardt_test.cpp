#include "lagtape/optim/levenberg_marquardt.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "lagtape/core/error.h"
#include "lagtape/optim/dense_factors.h"
#include "lagtape/optim/fit_statistics.h"

namespace lagtape {
namespace {

/// y - f(x, u) for a function that gives its value and its derivatives.
LeastSquares curve(std::vector<double> x, std::vector<double> y,
                   std::function<double(double, std::span<const double>, std::vector<double>&)> f) {
  const auto rows = static_cast<std::int64_t>(x.size());
  return {[=](std::span<const double> u) {
            std::vector<double> residuals, d(u.size());
            for (std::size_t i = 0; i < x.size(); ++i) residuals.push_back(f(x[i], u, d) - y[i]);
            return residuals;
          },
          [=](std::span<const double> u) {
            DenseMatrix jacobian(rows, static_cast<std::int64_t>(u.size()));
            std::vector<double> d(u.size());
            for (std::int64_t i = 0; i < rows; ++i) {
              f(x[i], u, d);
              for (std::size_t j = 0; j < d.size(); ++j) jacobian.at(i, static_cast<std::int64_t>(j)) = d[j];
            }
            return jacobian;
          }};
}

double line(double x, std::span<const double> u, std::vector<double>& d) {
  d = {1, x};
  return u[0] + u[1] * x;
}

TEST_CASE("Misra1a of NIST's regression data is solved from both of its starts, with certified errors") {
  const std::vector<double> x = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
  const std::vector<double> y = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};
  const LeastSquares misra = curve(x, y, [](double t, std::span<const double> u, std::vector<double>& d) {
    const double decay = std::exp(-u[1] * t);
    d = {1 - decay, u[0] * t * decay};
    return u[0] * (1 - decay);
  });
  for (const std::vector<double>& start :
       {std::vector<double>{500, 0.0001}, std::vector<double>{250, 0.0005}}) {
    const LevenbergMarquardtResult found = levenberg_marquardt(misra, start);
    CHECK(found.u[0] == doctest::Approx(2.3894212918e+02).epsilon(1e-8));
    CHECK(found.u[1] == doctest::Approx(5.5015643181e-04).epsilon(1e-8));
    CHECK(2 * found.cost == doctest::Approx(1.2455138894e-01).epsilon(1e-10));
    const FitStatistics statistics = fit_statistics(found);
    CHECK(statistics.freedom == 12);
    CHECK(std::sqrt(statistics.variance) == doctest::Approx(1.0187876330e-01).epsilon(1e-9));
    CHECK(statistics.deviation(0) == doctest::Approx(2.7070075241e+00).epsilon(1e-7));
    CHECK(statistics.deviation(1) == doctest::Approx(7.2668688436e-06).epsilon(1e-7));
    CHECK(found.stopped_by != StoppedBy::most);
    const std::vector<std::string> names = {"a", "b"};
    REQUIRE(unfixed_combinations(statistics, names).size() == 1);
    CHECK(unfixed_combinations(statistics, names)[0].starts_with(
        "a and b cannot be told apart: correlation -0.99"));
  }
}

TEST_CASE("a straight line has the errors of its closed form") {
  const std::vector<double> x = {0, 1, 2, 3, 4}, y = {1.1, 2.9, 5.2, 7.1, 8.8};
  const LevenbergMarquardtResult found = levenberg_marquardt(curve(x, y, line), {0, 0});
  // slope = Sxy / Sxx, intercept = mean(y) - slope mean(x)
  const double slope = 19.6 / 10, intercept = 5.02 - 2 * slope;
  CHECK(found.u[0] == doctest::Approx(intercept).epsilon(1e-9));
  CHECK(found.u[1] == doctest::Approx(slope).epsilon(1e-9));
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(y[i] - intercept - slope * x[i], 2);
  const FitStatistics statistics = fit_statistics(found);
  CHECK(statistics.variance == doctest::Approx(squares / 3).epsilon(1e-9));
  CHECK(statistics.covariance.at(1, 1) == doctest::Approx(squares / 3 / 10).epsilon(1e-9));
  CHECK(statistics.covariance.at(0, 0) == doctest::Approx(squares / 3 * (1.0 / 5 + 4.0 / 10)).epsilon(1e-9));
  CHECK(statistics.correlation.at(0, 1) == doctest::Approx(-std::sqrt(10.0 / 15)).epsilon(1e-9));
  CHECK(statistics.quantile == doctest::Approx(3.182446305284263).epsilon(1e-10));
  const FitStatistics known = fit_statistics(found, true);
  CHECK(known.covariance.at(1, 1) == doctest::Approx(0.1).epsilon(1e-9));
  CHECK(known.quantile == doctest::Approx(1.959963984540054).epsilon(1e-9));
}

TEST_CASE("a robust loss is not drawn to an outlier") {
  std::vector<double> x, y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(i);
    y.push_back(1 + 2 * i + 0.01 * (i % 3 - 1));
  }
  y[15] += 100;
  const double plain = levenberg_marquardt(curve(x, y, line), {0, 0}).u[1];
  CHECK(std::abs(plain - 2) > 0.3);
  for (const RobustLoss robust : {RobustLoss::huber, RobustLoss::soft_l1}) {
    const LevenbergMarquardtResult found =
        levenberg_marquardt(curve(x, y, line), {0, 0}, {.robust = robust, .robust_scale = 0.01});
    CHECK(std::abs(found.u[1] - 2) < 0.002);
    CHECK(found.weights[15] < 0.05);
    CHECK(found.stopped_by != StoppedBy::most);
  }
}

TEST_CASE("numbers that the data do not fix have no error bars, and are named") {
  const LevenbergMarquardtResult found =
      levenberg_marquardt(curve({0, 1, 2, 3}, {1, 3, 5, 7.5},
                                [](double x, std::span<const double> u, std::vector<double>& d) {
                                  d = {x, x, 1};
                                  return (u[0] + u[1]) * x + u[2];
                                }),
                          {1, 0, 0});
  const FitStatistics statistics = fit_statistics(found);
  CHECK(std::isinf(statistics.condition));
  CHECK(std::isinf(statistics.deviation(0)));
  CHECK(std::isinf(statistics.deviation(1)));
  CHECK(statistics.deviation(2) > 0);
  CHECK(std::isfinite(statistics.deviation(2)));
  const std::vector<std::string> names = {"a", "b", "c"};
  CHECK(unfixed_combinations(statistics, names)[0] == "the data fix no more than a combination of a, b");
}

TEST_CASE("trials beyond what can be computed are turned back, and a bad start is refused") {
  const LeastSquares root{[](std::span<const double> u) {
                            return std::vector<double>{std::log(u[0]) - 1, 0};
                          },
                          [](std::span<const double> u) {
                            DenseMatrix jacobian(2, 1);
                            jacobian.at(0, 0) = 1 / u[0];
                            return jacobian;
                          }};
  CHECK(levenberg_marquardt(root, {20}).u[0] == doctest::Approx(std::exp(1)).epsilon(1e-9));
  CHECK_THROWS_WITH_AS(levenberg_marquardt(root, {-1}), doctest::Contains("not finite"), InputError);
  CHECK_THROWS_WITH_AS(levenberg_marquardt(root, {1, 2, 3}), doctest::Contains("as many residuals"),
                       InputError);
}

TEST_CASE("quantiles of Student's t are those of tables") {
  CHECK(student_t_quantile(0.975, 1) == doctest::Approx(12.706204736432095).epsilon(1e-10));
  CHECK(student_t_quantile(0.975, 10) == doctest::Approx(2.228138851964939).epsilon(1e-10));
  CHECK(student_t_quantile(0.05, 10) == doctest::Approx(-1.812461122811676).epsilon(1e-10));
}

TEST_CASE("estimates are intervals within their bounds") {
  const Bounds bounds{0, 1, Scale::logit};
  const Estimate half = estimate_of(bounds, 0, 0.2, 2);
  CHECK(half.value == doctest::Approx(0.5));
  CHECK(half.standard_error == doctest::Approx(0.05));
  CHECK(half.low == doctest::Approx(1 / (1 + std::exp(0.4))));
  CHECK(half.high == doctest::Approx(1 / (1 + std::exp(-0.4))));
  CHECK(estimate_of(bounds, 0, INFINITY, 2).high == 1);
}

TEST_CASE("singular values are those of the matrix") {
  DenseMatrix a(3, 2);
  a.values = {3, 0, 0, 4, 0, 0};
  const SingularValues found = singular_values_of(a);
  CHECK(found.values[0] == doctest::Approx(4));
  CHECK(found.values[1] == doctest::Approx(3));
  CHECK(std::abs(found.vectors.at(1, 0)) == doctest::Approx(1));
}

}  // namespace
}  // namespace lagtape
