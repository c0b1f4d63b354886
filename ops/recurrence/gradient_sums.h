#pragma once

#include "lagtape/ops/recurrence/value_slots.h"

namespace lagtape::recurrence {

/// Fills in `code`'s gradients that are summed over rows: products of matrices, and columns or rows of thin
/// ones, those that read the same rows one after another.
void list_gradient_sums(const LayerOps& layer, const ValueSlots& slots, LayerCode& code);

}  // namespace lagtape::recurrence
