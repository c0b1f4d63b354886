#pragma once

#include "lagtape/ops/recurrence/schedule/value_operands.h"

namespace lagtape::recurrence {

/// Fills in the gradients of `schedule` that are summed over rows: products for matrices, and columns or rows
/// for narrow matrices. Sums that read the same rows are consecutive.
void list_gradient_sums(const LayerOps& layer, const ValueOperands& operands, LayerSchedule& schedule);

}  // namespace lagtape::recurrence
