#pragma once

#include "lagtape/core/tape.h"

namespace lagtape {

// Products with the fixed-order kernel of the sequence op: an output row depends, to the bit, only on its own
// input row, whatever the other rows are.

/// y = a @ b; a: [.., n, k] or [k], b: [k, m], y: [.., n, m] or [m]. The leading axes of a are rows. Throws
/// InputError if the inner extents differ.
Var matmul(const Var& a, const Var& b);

/// y = x @ W^T; x: [.., in], W: [out, in], y: [.., out]. Throws InputError if the extents `in` differ.
Var linear(const Var& x, const Var& w);

/// y = x @ W^T + bias; bias: [out], added after the product is rounded.
Var linear(const Var& x, const Var& w, const Var& bias);

}  // namespace lagtape
