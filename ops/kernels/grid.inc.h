#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "lagtape/ops/kernels/grid.h"
#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// The plain loop is left to the compiler. S keeps its code separate from that of other levels.
template <class S>
void add_on_grid(typename S::Scalar* view, double* to, const double* from,
                 const typename S::Scalar* increment, double sign, std::int64_t n) {
  using T = typename S::Scalar;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const double rounded = (static_cast<double>(increment[i]) + kGridRounding) - kGridRounding;
    const double sum = from[i] + sign * rounded;
    to[i] = __builtin_fabs(sum) <= kGridLimit ? sum : nan;  // comparisons with NaN are false
  }
  for (std::int64_t i = 0; i < n; ++i) view[i] = static_cast<T>(to[i]);
}

}  // namespace lagtape
