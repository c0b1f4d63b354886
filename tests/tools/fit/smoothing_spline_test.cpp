#include "lagtape/tools/fit/smoothing_spline.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

TEST_CASE("without smoothing a spline goes through its readings, with much it is the line of least squares") {
  const std::vector<double> times = {0, 0.5, 2, 3, 4.5, 5}, readings = {1, 3, 2, 5, 4, 7};
  const SmoothingSpline through(times, readings, 0);
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(through.value(times[i]) == doctest::Approx(readings[i]));
  const SmoothingSpline line(times, readings, 1e9);
  double t = 0, y = 0, tt = 0, ty = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    t += times[i] / 6, y += readings[i] / 6;
    tt += times[i] * times[i] / 6, ty += times[i] * readings[i] / 6;
  }
  const double slope = (ty - t * y) / (tt - t * t);
  CHECK(line.slope(2.2) == doctest::Approx(slope).epsilon(1e-6));
  CHECK(line.value(7) == doctest::Approx(y + slope * (7 - t)).epsilon(1e-6));
  const SmoothingSpline between(times, readings, 0.3);
  for (const double at : {0.2, 2.5, 4.7}) {
    const double difference = (between.value(at + 1e-6) - between.value(at - 1e-6)) / 2e-6;
    CHECK(between.slope(at) == doctest::Approx(difference).epsilon(1e-6));
  }
  CHECK_THROWS_AS(SmoothingSpline({0, 1, 1}, {0, 0, 0}, 1), InputError);
}

TEST_CASE("the chosen smoothing leaves less noise than the readings have") {
  std::vector<double> times, readings;
  double noise = 0, rest = 0;
  unsigned draw = 1;
  for (int i = 0; i < 150; ++i) {
    draw = draw * 1664525u + 1013904223u;
    times.push_back(0.2 * i);
    readings.push_back(std::sin(0.2 * i) + 0.3 * (draw / 4294967296.0 - 0.5));
  }
  const SmoothingSpline spline = SmoothingSpline::chosen(times, readings);
  for (std::size_t i = 0; i < times.size(); ++i) {
    noise += std::pow(readings[i] - std::sin(times[i]), 2);
    rest += std::pow(spline.value(times[i]) - std::sin(times[i]), 2);
  }
  CHECK(rest < 0.4 * noise);
}

}  // namespace
}  // namespace lagtape
