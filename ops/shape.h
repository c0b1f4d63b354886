#pragma once

#include <span>

#include "lagtape/core/tape.h"

namespace lagtape {

// Operations that move elements without computing. Axes can count from the end (-1 is the last); InputError if
// there is none.

/// The same elements in row-major order, in a different shape with the same number of elements; the storage is
/// shared.
Var reshape(const Var& x, const Shape& shape);

/// x^T of a matrix.
Var transpose(const Var& x);

/// y's axis i is x's axis `axes[i]`; `axes` is a permutation of 0..rank-1.
Var transpose(const Var& x, std::span<const std::int64_t> axes);

/// Elements begin..end-1 along an axis; 0 <= begin < end <= extent.
Var slice(const Var& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

/// The array of `shape` whose element [i, j, ...] is x's element number first + i * strides[0] + j * strides[1] + ...
/// in row-major order; elements may be read several times, and all must be x's.
Var as_strided(const Var& x, const Shape& shape, std::int64_t first, std::span<const std::int64_t> strides);

/// The inputs, at least one, joined along an axis; the other extents must match.
Var concatenate(std::span<const Var> inputs, std::int64_t axis);

/// The inputs, at least one and all of the same shape, side by side along a new axis of the result.
Var stack(std::span<const Var> inputs, std::int64_t axis = 0);

}  // namespace lagtape
