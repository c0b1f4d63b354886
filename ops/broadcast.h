#pragma once

#include <string_view>

#include "lagtape/ops/checks.h"

namespace lagtape {

// Broadcasting by NumPy's rule: shapes are aligned at their last axes; an extent of 1, or a missing axis, is
// repeated.

/// The common shape of a and b. Throws InputError if there is none.
Shape broadcast_shape(std::string_view op, const NamedInput& a, const NamedInput& b);

/// x repeated to `shape`, to which it must broadcast; x itself if it has that shape.
Tensor expand(const Tensor& x, const Shape& shape);

/// The transpose of `expand`: x summed over the axes along which a tensor of `shape` would be repeated.
/// Elements are added in row-major order, in double, and rounded once.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace lagtape
