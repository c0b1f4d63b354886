#pragma once

#include <type_traits>

#include "lagtape/ops/kernels/vector_math.inc.h"

namespace lagtape::vector_math {

// Source: Cephes (Moshier), atan.c and atanf.c.

/// With |x| reduced to t = x, (x - 1) / (x + 1), or -1 / x, which is at most tan(pi / 8) (in double, 0.66): 0,
/// pi / 4, or pi / 2, plus the arc tangent of t.
template <class S>
[[gnu::always_inline]] inline typename S::Vector atan(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr bool is_float = std::is_same_v<T, float>;
  const V zero(T(0)), one(T(1)), magnitude = abs<S>(x);
  const V middle(static_cast<T>(is_float ? 0.41421356237309503 : 0.66)), far(T(2.414213562373095));
  const auto part = [&](V below, V between, V beyond) {
    return select(magnitude > far, beyond, select(magnitude > middle, between, below));
  };
  const V t = divide<S>(part(magnitude, magnitude - one, V(T(-1))), part(one, magnitude + one, magnitude));
  const V begin = part(zero, V(T(0x1.921fb54442d18p-1)), V(T(0x1.921fb54442d18p+0)));
  const V square = t * t;
  V series;
  if constexpr (is_float) {
    constexpr double c[] = {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2};
    series = square * polynomial<S>(square, c);
  } else {
    constexpr double p[] = {-6.485021904942025371773e1, -1.228866684490136173410e2,
                            -7.500855792314704667340e1, -1.615753718733365076637e1,
                            -8.750608600031904122785e-1};
    constexpr double q[] = {1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
                            1.650270098316988542046e2, 2.485846490142306297962e1, 1};
    series = divide<S>(square * polynomial<S>(square, p), polynomial<S>(square, q));
  }
  // The part of pi missing from the numbers in `begin`.
  constexpr double lost = is_float ? -4.371139000186243e-8 : 6.123233995736766e-17;
  const V rest = part(zero, V(T(lost / 2)), V(T(lost)));
  return with_sign<S>(begin + (S::fma(t, series, t) + rest), x);
}

}  // namespace lagtape::vector_math
