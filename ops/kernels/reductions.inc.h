#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

template <class S>
[[gnu::always_inline]] inline typename S::Scalar sum_group(const typename S::Scalar* a, std::int64_t size) {
  using T = typename S::Scalar;
  using V = typename S::Vector;
  constexpr int lane = kLane<T>;
  constexpr int vectors = lane / S::kSize;
  V sum[vectors];
  for (int v = 0; v < vectors; ++v) sum[v] = V(T(0));
  std::int64_t e = 0;
  for (; e + lane <= size; e += lane) {
    for (int v = 0; v < vectors; ++v) sum[v] = sum[v] + V::load_unaligned(a + e + v * S::kSize);
  }
  alignas(64) T part[lane];
  for (int v = 0; v < vectors; ++v) sum[v].store_aligned(part + v * S::kSize);
  for (std::int64_t i = 0; e + i < size; ++i) part[i] += a[e + i];
  for (int half = lane / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

template <class S>
void sum_groups(typename S::Scalar* out, const typename S::Scalar* a, std::int64_t rows, std::int64_t groups,
                std::int64_t size) {
  using T = typename S::Scalar;
  for (std::int64_t i = 0; i < rows; ++i) {
    T* to = out + i * padded<T>(groups);
    const T* from = a + i * padded<T>(groups * size);
    for (std::int64_t g = 0; g < groups; ++g) to[g] = sum_group<S>(from + g * size, size);
    for (std::int64_t g = groups; g < padded<T>(groups); ++g) to[g] = T(0);
  }
}

template <class S>
void broadcast_groups(typename S::Scalar* out, const typename S::Scalar* a, std::int64_t rows,
                      std::int64_t groups, std::int64_t size) {
  using T = typename S::Scalar;
  for (std::int64_t i = 0; i < rows; ++i) {
    T* to = out + i * padded<T>(groups * size);
    const T* from = a + i * padded<T>(groups);
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t e = 0; e < size; ++e) to[g * size + e] = from[g];
    }
    for (std::int64_t e = groups * size; e < padded<T>(groups * size); ++e) to[e] = T(0);
  }
}

}  // namespace lagtape
