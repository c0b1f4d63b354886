#pragma once

#include <cstdint>
#include <span>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

// Functions of equations that are several operations of a step, so that they have every plan, compiler and export that
// those have. Errors of shape are InputErrors.

/// 1 where a > b, else 0, as sign(relu(a - b)); it has no gradient.
StepVar greater(StepVar a, StepVar b);

/// a where the condition c is 1 and b where it is 0: c * a + (1 - c) * b. Both must be finite.
StepVar where(StepVar c, StepVar a, StepVar b);

/// a within least and largest; the gradient of a beyond them is 0.
StepVar clamp(StepVar a, StepVar least, StepVar largest);

/// a - b * floor(a / b), which has the sign of b.
StepVar mod(StepVar a, StepVar b);

/// a^n for a whole n above 0, by squaring, so that a may be negative.
template <class T>
T whole_power(const T& a, std::int64_t n) {
  if (n == 1) return a;
  const T half = whole_power(a, n / 2);
  return n % 2 == 0 ? half * half : half * half * a;
}
inline constexpr double kLargestWholePower = 64;

/// a^b: products for a whole number b up to kLargestWholePower in size, else exp(b log(a)), for which a is above 0.
StepVar power(StepVar a, StepVar b);

/// a [g] and b [n] give [g, n] with the products of all pairs.
StepVar outer(StepVar a, StepVar b);

/// A matrix that the step computes, a [g, n], times v [n]: [g].
StepVar computed_product(StepVar a, StepVar v);

/// A matrix [out, in] for each group, times v [g, in]: [g, out].
StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v);

}  // namespace lagtape
