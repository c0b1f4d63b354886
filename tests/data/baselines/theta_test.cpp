#include "lagtape/data/baselines/theta.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace lagtape;

namespace {

/// A trend, a season of 12 and something like noise.
std::vector<double> seasonal(double start, double slope) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i)
    values.push_back(start + slope * i + 12 * std::sin(2 * std::numbers::pi * i / 12) +
                     2 * std::sin(7.0 * i * i + 1));
  return values;
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) <= tolerance);
}

}  // namespace

// The numbers are those of a NumPy program that extrapolates the two theta lines of Assimakopoulos and Nikolopoulos, 0 by
// its line and 2 by smoothing with the best alpha of 20,001, and takes their mean.
TEST_CASE("Theta extrapolates the mean of its two lines, seasonally adjusted by factors or by summands") {
  constexpr double kTolerance = 2e-3;  // alpha is found to 1e-5 or so
  CHECK(seasonality_of(seasonal(50, 0.2), 12).is_factor);
  check_near(theta_forecast(seasonal(50, 0.2), 12, 5),
             {62.3490302182, 70.9043402299, 75.3593466812, 75.907003869, 74.2392709545}, kTolerance);
  CHECK_FALSE(seasonality_of(seasonal(-20, 0.3), 12).is_factor);
  check_near(theta_forecast(seasonal(-20, 0.3), 12, 5),
             {-2.5087007165, 5.1371505896, 9.1827315926, 9.7245649204, 8.2697969983}, kTolerance);
  check_near(theta_forecast(seasonal(50, 0.2), 0, 3), {57.8013383633, 57.8583873946, 57.915436426}, 1e-9);
}

TEST_CASE("Theta continues a line with half of its slope, and a pattern as it is") {
  std::vector<double> line, pattern, constant(30, 7.0);
  for (int i = 0; i < 30; ++i) line.push_back(10 + 3 * i);
  check_near(theta_forecast(line, 0, 3), {97 + 1.5, 97 + 3, 97 + 4.5}, 1e-9);
  check_near(theta_forecast(line, 7, 1), {97 + 1.5}, 1e-9);  // no season
  for (int i = 0; i < 30; ++i)
    pattern.push_back(std::vector<double>{-3, 0, 5, 1, -3}[static_cast<std::size_t>(i % 5)]);
  const std::vector<double> continued = theta_forecast(pattern, 5, 6);
  const double drift = continued[5] - continued[0];  // the trend of a pattern that is cut somewhere
  check_near(continued, {-3, 0, 5, 1, -3, -3}, 1e-9);
  CHECK(std::abs(drift) < 1e-9);
  check_near(theta_forecast(constant, 5, 2), {7, 7}, 0);
  check_near(theta_forecast(std::vector<double>{4}, 5, 2), {4, 4}, 0);
}

TEST_CASE("numbers without a season, or shorter than two periods, have no seasonality") {
  std::vector<double> noise;
  for (int i = 0; i < 60; ++i) noise.push_back(std::sin(7.0 * i * i + 1));
  CHECK(seasonality_of(noise, 12).indices.empty());
  const std::vector<double> season = seasonal(50, 0);
  CHECK(seasonality_of(std::span(season).first(24), 12).indices.empty());
  CHECK(seasonality_of(season, 12).indices.size() == 12);
}
