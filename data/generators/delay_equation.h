#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// How the delayed value in the middle of a step is interpolated from the values on the grid.
enum class HalfStep : std::uint8_t {
  linear,  ///< the mean of the two neighbors
  /// the cubic through four neighbors, or the mean if one of them is missing or lies before the start
  cubic,
  held,     ///< the value at the start of the step, held to its end: a first-order method
  hermite,  ///< the cubic through the two neighbors with their slopes; the method remains of order 4
};

/// The time grid of a solution.
struct DelayGrid {
  double step;
  std::int64_t delay;  ///< in steps, >= 0
  std::int64_t steps;
  HalfStep half_step = HalfStep::linear;
};

/// x' = f(t, x(t), x(t - delay * step)) from x(t) = start for t <= 0, by the classic Runge-Kutta method of
/// order 4 with a fixed step. Without a delay, the third argument equals the second. Returns x at 0, step, ...,
/// steps * step.
template <class F>
std::vector<double> integrate_delay_equation(F f, double start, const DelayGrid& grid) {
  std::vector<double> x(static_cast<std::size_t>(grid.steps + 1), start);
  std::vector<double> slopes(x.size());  // at 0, the slope of the solution, not of the history
  auto past = [&](std::int64_t n) { return n <= 0 ? start : x[static_cast<std::size_t>(n)]; };
  auto slope = [&](std::int64_t n) { return slopes[static_cast<std::size_t>(n)]; };

  auto middle = [&](std::int64_t n, std::int64_t newest) {
    const double mean = 0.5 * (past(n) + past(n + 1));
    if (grid.half_step == HalfStep::held) return past(n);
    if (grid.half_step == HalfStep::cubic && n >= 1 && n + 2 <= newest) {
      return (9 * (past(n) + past(n + 1)) - past(n - 1) - past(n + 2)) / 16;
    }
    if (grid.half_step == HalfStep::hermite && n >= 0) {
      return mean + grid.step / 8 * (slope(n) - slope(n + 1));
    }
    return mean;
  };

  const double step = grid.step;
  for (std::int64_t n = 0; n < grid.steps; ++n) {
    const std::int64_t from = n - grid.delay;
    auto slope_at = [&](double share, double value, auto delayed) {
      return f((static_cast<double>(n) + share) * step, value, grid.delay == 0 ? value : delayed());
    };
    const double now = past(n);
    const double k1 = slope_at(0, now, [&] { return past(from); });
    slopes[static_cast<std::size_t>(n)] = k1;
    const double k2 = slope_at(0.5, now + 0.5 * step * k1, [&] { return middle(from, n); });
    const double k3 = slope_at(0.5, now + 0.5 * step * k2, [&] { return middle(from, n); });
    const double k4 = slope_at(1, now + step * k3,
                               [&] { return past(grid.half_step == HalfStep::held ? from : from + 1); });
    x[static_cast<std::size_t>(n + 1)] = now + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return x;
}

}  // namespace lagtape
