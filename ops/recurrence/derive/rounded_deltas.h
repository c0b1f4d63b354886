#pragma once

#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// Deltas, the adjoints of products' results, when products are in bf16: a product reads them rounded, so they
// are rounded when saved, and take half the memory until the products and the sums over the run have read them.

/// Whether a matrix gradient is summed one column or row at a time, as element-wise work.
bool is_narrow(const LayerOps& ops, const LayerOps::MatrixGradient& gradient);

/// Makes the products and gradients that read a delta read a rounded copy of it. Element-wise ops continue with
/// the unrounded delta. A delta has no copy if no gradient of a wide matrix reads it (whichever gradients are
/// wanted), if it has at most two numbers, or if it comes from outside the layer.
void round_deltas(LayerOps& ops);

/// A flag for each weight of a layer with rounded deltas: whether the gradient of a vector or narrow matrix
/// sums them.
std::vector<bool> sums_rounded_deltas(const LayerOps& ops, std::size_t weights);

}  // namespace lagtape::recurrence
