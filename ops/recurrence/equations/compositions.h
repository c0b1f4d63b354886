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

/// a - b * floor(a / b), which has the sign of b.
StepVar mod(StepVar a, StepVar b);

/// a [g] and b [n] give [g, n] with the products of all pairs.
StepVar outer(StepVar a, StepVar b);

/// A matrix that the step computes, a [g, n], times v [n]: [g].
StepVar computed_product(StepVar a, StepVar v);

/// A matrix [out, in] for each group, times v [g, in]: [g, out].
StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v);

}  // namespace lagtape
