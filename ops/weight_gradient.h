#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// w[m, n] += d[rows, m]^T x[rows, n] (row strides ldw, ldd, ldx): the weight gradient of a product. Large f32 shapes go to
/// oneDNN on the calling thread alone, others to the fixed-order kernel; which one depends on the shape only.
template <class T>
void add_weight_gradient(const Kernels<T>& kernels, T* w, std::int64_t ldw, const T* d, std::int64_t ldd, const T* x,
                         std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n);

}  // namespace lagtape
