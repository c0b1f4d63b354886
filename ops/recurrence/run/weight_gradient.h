#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape::recurrence {

/// w[m, n] += d[rows, m]^T x[rows, n] for each of `count` products: the weight gradients of products. f32
/// matrices of at least 512 x 512 go to `large` unless it is null; others go to the kernel, which adds rows in
/// order. The choice depends only on shape and SIMD level, so results do not depend on threads.
template <class T>
void add_weight_gradients(const Kernels<T>& kernels, LargeProductFunction large,
                          const OuterProduct<T>* products, std::int64_t count, std::int64_t rows);

}  // namespace lagtape::recurrence
