#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// w[m, n] += d[rows, m]^T x[rows, n] (row strides ldw, ldd, ldx): the weight gradient of a product. Matrices
/// from 512 x 512 on, in f32, go to oneDNN on the calling thread, others to the kernel, which adds rows one
/// after another. Which one depends on the shape and the level only, so that results do not depend on
/// threads.
template <class T>
void add_weight_gradient(const Kernels<T>& kernels, T* w, std::int64_t ldw, const T* d, std::int64_t ldd,
                         const T* x, std::int64_t ldx, std::int64_t rows, std::int64_t m, std::int64_t n);

}  // namespace lagtape
