#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape::recurrence {

/// w[m, n] += d[rows, m]^T x[rows, n] for each of `count` products: the weight gradients of products. Matrices
/// from 512 x 512 on, in f32, go to `large` unless it is null, others to the kernel, which adds rows one after
/// another. The choice depends on the shape and the level only, so results do not depend on threads.
template <class T>
void add_weight_gradients(const Kernels<T>& kernels, LargeProductFunction large,
                          const OuterProduct<T>* products, std::int64_t count, std::int64_t rows);

}  // namespace lagtape::recurrence
