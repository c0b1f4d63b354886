#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// Adding and taking away 1.5 * 2^20, whose last bit is worth 2^-32, rounds to a multiple of 2^-32.
inline constexpr double kGridRounding = 3 << 19;
/// Increments are rounded so up to 2^19. One that is longer does not lead from a state within the limit to
/// another.
inline constexpr double kGridLimit = 1 << 18;

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
    to[i] = __builtin_fabs(sum) <= kGridLimit ? sum : nan;  // a NaN compares false
  }
  for (std::int64_t i = 0; i < n; ++i) view[i] = static_cast<T>(to[i]);
}

}  // namespace lagtape
