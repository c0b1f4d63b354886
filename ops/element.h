#pragma once

#include "lagtape/core/tape.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

// The element-wise kernels, applied to tensors. The sequence op uses the same kernels, so both agree bit for
// bit.

/// out = op(a, b, k) element by element; a and b have out's shape and dtype; unused ones are empty.
void apply_element(ElementOp op, Tensor& out, const Tensor& a, const Tensor& b = {}, double k = 0);

/// The same, into a new tensor with a's shape.
Tensor element(ElementOp op, const Tensor& a, const Tensor& b = {}, double k = 0);

}  // namespace lagtape
