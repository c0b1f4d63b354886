#pragma once

#include "lagtape/ops/recurrence/derive/adjoint_sums.h"

namespace lagtape::recurrence {

/// Adds to the adjoints of a row op's operands the contributions through its result, whose adjoint is known:
/// the derivative of every op that is neither a product nor a lagged read. Draws and the step index have
/// none. `guarded`: what an adjoint of 0 contributes is 0, whatever the derivative. Throws Error for an element-wise op without a rule.
void reverse_row_op(const StepProgram& program, const Op& op, AdjointSums& adjoints, bool guarded);

/// The sum of a over its innermost axis, or a along a new one.
int spread(Op::Kind kind, int a, RowShape shape, AdjointSums& adjoints);

}  // namespace lagtape::recurrence
