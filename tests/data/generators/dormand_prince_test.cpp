#include "lagtape/data/generators/dormand_prince.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

void oscillator(std::span<const double> y, std::span<double> slope) { slope[0] = y[1], slope[1] = -y[0]; }

/// The largest error of the oscillator's position at the given number of points, half of them between its
/// steps.
double largest_error(Tolerance tolerance, std::int64_t* calls = nullptr) {
  std::int64_t count = 0;
  auto counted = [&](std::span<const double> y, std::span<double> slope) { oscillator(y, slope), ++count; };
  const auto y = dormand_prince(counted, std::array{0.0, 1.0}, 0.05, 401, tolerance);
  double largest = 0;
  for (std::size_t n = 0; n < 401; ++n) {
    largest = std::max(largest, std::abs(y[2 * n] - std::sin(0.05 * static_cast<double>(n))));
  }
  if (calls) *calls = count;
  return largest;
}

}  // namespace

TEST_CASE("the error follows the tolerance, between the steps too") {
  std::int64_t coarse_calls = 0, fine_calls = 0;
  const double coarse = largest_error({1e-3, 1e-6}, &coarse_calls);
  const double fine = largest_error({1e-10, 1e-12}, &fine_calls);
  CHECK(coarse < 2e-2);
  CHECK(coarse > 1e-5);
  CHECK(fine < 1e-8);
  CHECK(fine_calls > 10 * coarse_calls);
}

TEST_CASE("polynomials up to order 4 are exact at every point") {
  auto clock = [](std::span<const double> y, std::span<double> slope) {  // y[0] = t, y[1] = t^4
    slope[0] = 1, slope[1] = 4 * y[0] * y[0] * y[0];
  };
  const auto y = dormand_prince(clock, std::array{0.0, 0.0}, 0.1, 31, {1e-3, 1e-6});
  for (std::size_t n = 0; n < 31; ++n) {
    const double t = 0.1 * static_cast<double>(n);
    CHECK(y[2 * n] == doctest::Approx(t).epsilon(1e-12));
    CHECK(y[2 * n + 1] == doctest::Approx(t * t * t * t).epsilon(1e-11));
  }
}

TEST_CASE("one point is the start, and points do not depend on how many follow but for the last step") {
  CHECK(dormand_prince(oscillator, std::array{0.5, 2.0}, 0.1, 1, {}) == std::vector<double>{0.5, 2.0});
  const auto few = dormand_prince(oscillator, std::array{0.0, 1.0}, 0.1, 101, {});
  const auto many = dormand_prince(oscillator, std::array{0.0, 1.0}, 0.1, 201, {});
  CHECK(std::equal(few.begin(), few.begin() + 100, many.begin()));
}

TEST_CASE("a solution that blows up is refused with its time") {
  auto explosion = [](std::span<const double> y, std::span<double> slope) { slope[0] = y[0] * y[0]; };
  const std::string message = input_error_of([&] { dormand_prince(explosion, std::array{1.0}, 0.5, 5, {}); });
  CHECK(has(message, "the step vanishes at t = 0.9999"));
}
