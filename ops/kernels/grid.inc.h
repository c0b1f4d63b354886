#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// Adding and taking away 1.5 * 2^20, whose last bit is worth 2^-32, rounds to a multiple of 2^-32.
inline constexpr double kGridRounding = 3 << 19;
inline constexpr double kGridLimit = 1 << 20;

/// S names the level: the plain loop is left to the compiler, whose code belongs to that level.
template <class S>
void add_on_grid(typename S::Scalar* view, double* to, const double* from,
                 const typename S::Scalar* increment, double sign, std::int64_t n) {
  using T = typename S::Scalar;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const double rounded = (static_cast<double>(increment[i]) + kGridRounding) - kGridRounding;
    const double sum = from[i] + sign * rounded;
    // A NaN compares false and is a NaN again, by either way.
    const double size = __builtin_fabs(sum), twice = __builtin_fabs(rounded + rounded);
    const double largest = size > twice ? size : twice;
    to[i] = largest <= kGridLimit ? sum : nan;
  }
  for (std::int64_t i = 0; i < n; ++i) view[i] = static_cast<T>(to[i]);
}

}  // namespace lagtape
