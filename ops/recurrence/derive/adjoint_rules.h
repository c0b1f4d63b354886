#pragma once

#include "lagtape/ops/recurrence/derive/adjoint_sums.h"

namespace lagtape::recurrence {

/// Given the adjoint of a row op's result, adds the op's contributions to the adjoints of its operands: the
/// derivative of every op that is neither a product nor a lagged read. Draws and the step index have none.
/// `guarded`: an adjoint of 0 contributes 0, whatever the derivative. Throws Error for an element-wise op
/// without a rule.
void reverse_row_op(const StepProgram& program, const Op& op, AdjointSums& adjoints, bool guarded);

/// The sum of a over its innermost axis, or a repeated along a new one.
int spread(Op::Kind kind, int a, RowShape shape, AdjointSums& adjoints);

}  // namespace lagtape::recurrence
