#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {

/// Vectors of sums that are added at a time: as many as an fma takes cycles, so that none waits for its turn.
inline constexpr int kSumsAtATime = 4;

/// One vector of a sum.
template <class T>
struct SumPart {
  T* w;
  std::int64_t stride, n;
  const T* a;
  std::int64_t lda;
  const T* factor;
  std::int64_t ldf;
};

template <class S>
typename S::Vector load_part(const SumPart<typename S::Scalar>& part) {
  using T = typename S::Scalar;
  if (part.stride == 1 && part.n == S::kSize) return S::Vector::load_unaligned(part.w);
  alignas(64) T copy[S::kSize] = {};
  for (std::int64_t i = 0; i < part.n; ++i) copy[i] = part.w[i * part.stride];
  return S::Vector::load_aligned(copy);
}

template <class S>
void store_part(const SumPart<typename S::Scalar>& part, typename S::Vector sum) {
  using T = typename S::Scalar;
  if (part.stride == 1 && part.n == S::kSize) return sum.store_unaligned(part.w);
  alignas(64) T copy[S::kSize];
  sum.store_aligned(copy);
  for (std::int64_t i = 0; i < part.n; ++i) part.w[i * part.stride] = copy[i];
}

template <class S, int C>
void add_parts(const SumPart<typename S::Scalar>* parts, std::int64_t rows) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  V sum[C];
  const T *a[C], *factor[C];
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) {
    sum[c] = load_part<S>(parts[c]);
    a[c] = parts[c].a;
    factor[c] = parts[c].factor;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      sum[c] = S::fma(V(*factor[c]), V::load_aligned(a[c]), sum[c]);
      a[c] += parts[c].lda;
      factor[c] += parts[c].ldf;
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) store_part<S>(parts[c], sum[c]);
}

template <class S>
void add_scaled_sums(const ScaledSum<typename S::Scalar>* sums, std::int64_t count, std::int64_t rows) {
  using T = typename S::Scalar;
  SumPart<T> parts[kSumsAtATime];
  int have = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const ScaledSum<T>& s = sums[i];
    for (std::int64_t j = 0; j < s.n; j += S::kSize) {
      parts[have++] = {s.w + j * s.stride, s.stride, s.n - j < S::kSize ? s.n - j : S::kSize, s.a + j, s.lda,
                       s.factor,           s.ldf};
      if (have < kSumsAtATime) continue;
      add_parts<S, kSumsAtATime>(parts, rows);
      have = 0;
    }
  }
  if (have == 1) add_parts<S, 1>(parts, rows);
  if (have == 2) add_parts<S, 2>(parts, rows);
  if (have == 3) add_parts<S, 3>(parts, rows);
}

}  // namespace lagtape
