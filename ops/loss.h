#pragma once

#include <cstdint>
#include <span>

#include "lagtape/core/tape.h"

namespace lagtape {

// Losses: scalars, means over all rows added in order (see loss_rows.h for the arithmetic). They throw
// InputError for an empty batch, and for a target out of range, with its position.

/// The mean of (y - target)^2 over all elements; y and target have the same shape and dtype.
Var mse(const Var& y, const Tensor& target);

/// The mean over rows of log(sum_j exp(logits[i, j])) - logits[i, classes[i]]; logits: [n, classes].
Var cross_entropy(const Var& logits, std::span<const std::int32_t> classes);

/// The mean of -log(sigmoid(z)) for class 1 and -log(1 - sigmoid(z)) for class 0; logits: [n] or [n, 1].
Var binary_cross_entropy(const Var& logits, std::span<const std::int32_t> classes);

}  // namespace lagtape
