#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// x' = f(x(t), x(t - delay * step)) from x(t) = start for t <= 0, by the classic Runge-Kutta method of order
/// 4 with a fixed step. The delayed value in the middle of a step is the mean of its two grid neighbours.
/// delay >= 1. Returns x at 0, step, ..., steps * step.
template <class F>
std::vector<double> integrate_delay_equation(F f, double start, double step, std::int64_t delay,
                                             std::int64_t steps) {
  std::vector<double> x(static_cast<std::size_t>(steps + 1), start);
  auto past = [&](std::int64_t n) { return n <= 0 ? start : x[static_cast<std::size_t>(n)]; };
  for (std::int64_t n = 0; n < steps; ++n) {
    const double now = past(n), before = past(n - delay), after = past(n - delay + 1);
    const double middle = 0.5 * (before + after);
    const double k1 = f(now, before);
    const double k2 = f(now + 0.5 * step * k1, middle);
    const double k3 = f(now + 0.5 * step * k2, middle);
    const double k4 = f(now + step * k3, after);
    x[static_cast<std::size_t>(n + 1)] = now + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return x;
}

}  // namespace lagtape
