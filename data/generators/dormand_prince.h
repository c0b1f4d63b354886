#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lagtape {

/// An autonomous system y' = f(y): computes slope = f(y), of the size of y.
using Autonomous = std::function<void(std::span<const double> y, std::span<double> slope)>;

/// The error allowed for an adaptive step: absolute + relative * |y| for each number, as a root mean square.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-6;
};

/// Solves y' = f(y) from y(0) = start and returns y at t = 0, spacing, 2 spacing, ..., [points, size of y]. The
/// method is the adaptive Runge-Kutta method of order 5(4) by Dormand and Prince (1980) with local
/// extrapolation and its interpolant of order 4 (Shampine 1986). Steps are controlled as in SciPy's RK45: the
/// first step of Hairer, Norsett and Wanner (I, section II.4), then factors 0.9 * error^(-1/5) within 0.2..10,
/// and no growth after a rejected step. Throws InputError if the step vanishes: the solution blows up or the
/// tolerance cannot be met.
std::vector<double> dormand_prince(const Autonomous& f, std::span<const double> start, double spacing,
                                   std::int64_t points, Tolerance tolerance);

}  // namespace lagtape
