#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lagtape {

/// slope = f(y), y and slope of the same size.
using Autonomous = std::function<void(std::span<const double> y, std::span<double> slope)>;

/// What an adaptive step may err by in each number: absolute + relative * |y|, in the root mean square.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-6;
};

/// y' = f(y) from y(0) = start at t = 0, spacing, 2 spacing, ..., [points, size of y], by the adaptive
/// Runge-Kutta method of order 5(4) of Dormand and Prince (1980), local extrapolation, and its interpolant of
/// order 4 (Shampine 1986). The step control is that of SciPy's RK45: the first step of Hairer, Norsett and
/// Wanner (I, section II.4), then factors 0.9 * error^(-1/5) kept in 0.2..10, and no growth after a refusal.
/// Throws InputError when the step would vanish: the solution blows up or the tolerance is out of reach.
std::vector<double> dormand_prince(const Autonomous& f, std::span<const double> start, double spacing,
                                   std::int64_t points, Tolerance tolerance);

}  // namespace lagtape
