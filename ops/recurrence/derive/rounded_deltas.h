#pragma once

#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// Deltas, the adjoints of products' results, where products are in bf16: a product reads them rounded, so they are
// rounded where they are saved and take half the memory until the products and the sums over the run have read them.

/// Whether a gradient of a matrix is summed a column or a row at a time, as element-wise work.
bool is_narrow(const LayerOps& ops, const LayerOps::MatrixGradient& gradient);

/// Gives the products and the gradients that read a delta a rounded copy. Deltas are left alone that no gradient of a
/// wide matrix reads (whatever gradients are wanted), of at most two numbers, or that the layer is given. Other
/// element-wise ops go on with what is not rounded.
void round_deltas(LayerOps& ops);

/// A flag for each weight of ops with rounded deltas: whether the gradient sums them without multiplying them as a
/// wide matrix's does.
std::vector<bool> sums_rounded_deltas(const LayerOps& ops, std::size_t weights);

}  // namespace lagtape::recurrence
