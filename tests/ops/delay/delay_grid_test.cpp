#include "lagtape/ops/delay/delay_grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace lagtape {
namespace {

/// The times of a grid that are breaks.
std::vector<double> breaks_of(const MovingGrid& grid) {
  std::vector<double> times;
  for (const MovingGrid::Point& point : grid.points)
    if (point.is_break) times.push_back(point.t.v);
  return times;
}

bool has(const std::vector<double>& times, double time) {
  return std::any_of(times.begin(), times.end(), [&](double t) { return std::abs(t - time) < 1e-12; });
}

TEST_CASE("breaks travel along a lag as often as they are followed, and move with it") {
  const GridParts parts{.h = {0.25, {0}}, .end = 3, .lags = {{0.9, {1}}}, .levels = 2};
  const MovingGrid grid = make_grid(parts);
  const std::vector<double> breaks = breaks_of(grid);
  CHECK(has(breaks, 0.9));
  CHECK(has(breaks, 1.8));
  CHECK_FALSE(has(breaks, 2.7));
  for (const MovingGrid::Point& point : grid.points) {
    if (std::abs(point.t.v - 0.9) < 1e-12) CHECK(point.t.d[0] == 1);
    if (std::abs(point.t.v - 1.8) < 1e-12) CHECK(point.t.d[0] == 2);
    if (std::abs(point.t.v - 0.5) < 1e-12) CHECK(point.t.d[0] == 0);
  }
  CHECK(
      std::is_sorted(grid.points.begin(), grid.points.end(), [](auto& a, auto& b) { return a.t.v < b.t.v; }));
  CHECK(grid.points.front().t.v == 0);
  CHECK(grid.points.back().t.v >= 3);
}

TEST_CASE("a grid that is not cut has the multiples of its step alone") {
  const MovingGrid grid =
      make_grid({.h = {0.25, {0}}, .end = 1, .lags = {{0.4, {1}}}, .cut = false, .levels = 2});
  for (std::size_t i = 0; i < grid.points.size(); ++i)
    CHECK(grid.points[i].t.v == doctest::Approx(0.25 * static_cast<double>(i)));
}

}  // namespace
}  // namespace lagtape
