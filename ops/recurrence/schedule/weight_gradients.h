#pragma once

#include "lagtape/ops/recurrence/schedule/value_operands.h"

namespace lagtape::recurrence {

/// Fills in the gradients of `schedule` that are summed over rows: products of matrices, and columns or rows
/// of narrow ones, those that read the same rows one after another.
void list_gradient_sums(const LayerOps& layer, const ValueOperands& operands, LayerSchedule& schedule);

}  // namespace lagtape::recurrence
