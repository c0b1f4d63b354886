#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/bf16_rounding.inc.h"
#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

/// Vectors of sums that are added at a time: as many as an fma has cycles, so that none has to wait.
inline constexpr int kSumsAtATime = 4;

/// Rows that are prefetched ahead: they are a power of two apart, so only a few of them stay in the first-level
/// cache.
inline constexpr std::int64_t kSumsAhead = 16;

/// One vector of one or two sums that are adjacent in a list and read the same rows.
template <class T>
struct SumPart {
  const ScaledSum<T>* sums;
  std::int64_t first;  ///< the vector's first element
};

template <class S>
typename S::Vector load_part(const ScaledSum<typename S::Scalar>& sum, std::int64_t first) {
  using T = typename S::Scalar;
  if (sum.stride == 1 && sum.n - first >= S::kSize) return S::Vector::load_unaligned(sum.w + first);
  alignas(64) T copy[S::kSize] = {};
  for (std::int64_t i = first; i < sum.n && i < first + S::kSize; ++i)
    copy[i - first] = sum.w[i * sum.stride];
  return S::Vector::load_aligned(copy);
}

template <class S>
void store_part(const ScaledSum<typename S::Scalar>& sum, std::int64_t first, typename S::Vector value) {
  using T = typename S::Scalar;
  if (sum.stride == 1 && sum.n - first >= S::kSize) return value.store_unaligned(sum.w + first);
  alignas(64) T copy[S::kSize];
  value.store_aligned(copy);
  for (std::int64_t i = first; i < sum.n && i < first + S::kSize; ++i)
    sum.w[i * sum.stride] = copy[i - first];
}

template <class S>
typename S::Vector load_row(const typename S::Scalar* row) {
  return S::Vector::load_aligned(row);
}
template <class S>
requires(sizeof(typename S::Scalar) == 4) typename S::Vector load_row(const std::uint16_t* row) {
  alignas(64) typename S::Scalar numbers[S::kSize];
  restore_rounded<S>(numbers, row, S::kSize);
  return S::Vector::load_aligned(numbers);
}

/// Adds C parts whose sums have the same factors. Their rows consist of `Element`s.
template <class S, int C, int F, class Element>
void add_parts(const SumPart<typename S::Scalar>* parts, std::int64_t rows) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  V sum[C][F];
  const Element* a[C];
  const T* factor[F];
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) {
    a[c] = reinterpret_cast<const Element*>(parts[c].sums->a.at) + parts[c].first;
#pragma GCC unroll 2
    for (int f = 0; f < F; ++f) sum[c][f] = load_part<S>(parts[c].sums[f], parts[c].first);
  }
#pragma GCC unroll 2
  for (int f = 0; f < F; ++f) factor[f] = parts[0].sums[f].factor;
  for (std::int64_t row = 0; row < rows; ++row) {
    V left[F];
#pragma GCC unroll 2
    for (int f = 0; f < F; ++f) {
      left[f] = V(*factor[f]);
      factor[f] += parts[0].sums[f].ldf;
    }
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      __builtin_prefetch(a[c] + kSumsAhead * parts[c].sums->a.stride);
      const V right = load_row<S>(a[c]);
      a[c] += parts[c].sums->a.stride;
#pragma GCC unroll 2
      for (int f = 0; f < F; ++f) sum[c][f] = S::fma(left[f], right, sum[c][f]);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) {
#pragma GCC unroll 2
    for (int f = 0; f < F; ++f) store_part<S>(parts[c].sums[f], parts[c].first, sum[c][f]);
  }
}

template <class S, int F, class Element>
void add_parts_of(const SumPart<typename S::Scalar>* parts, int count, std::int64_t rows) {
  if (count == 1) add_parts<S, 1, F, Element>(parts, rows);
  if (count == 2) add_parts<S, 2, F, Element>(parts, rows);
  if (count == 3) add_parts<S, 3, F, Element>(parts, rows);
  if (count == 4) add_parts<S, 4, F, Element>(parts, rows);
}

/// Adds all sums, F at a time, that read the same rows.
template <class S, int F>
void add_scaled_sums_by(const ScaledSum<typename S::Scalar>* sums, std::int64_t count, std::int64_t rows) {
  using T = typename S::Scalar;
  SumPart<T> parts[kSumsAtATime];
  int have = 0;
  const auto add = [&] {
    if (have > 0 && parts[0].sums->a.rounded)
      add_parts_of<S, F, SavedElement<T>>(parts, have, rows);
    else
      add_parts_of<S, F, T>(parts, have, rows);
    have = 0;
  };
  const auto go_together = [](const ScaledSum<T>* s, const ScaledSum<T>* t) {
    bool same = s->a.rounded == t->a.rounded;
    for (int f = 0; f < F; ++f) same = same && s[f].factor == t[f].factor && s[f].ldf == t[f].ldf;
    return same;
  };
  int found = 1;
  for (const ScaledSum<T>* s = sums; s != sums + count; s += found) {
    const bool pair =
        s + 1 != sums + count && s[1].a.at == s->a.at && s[1].a.stride == s->a.stride && s[1].n == s->n;
    found = pair ? 2 : 1;
    if (found != F) continue;
    if (have > 0 && !go_together(s, parts[0].sums)) add();
    for (std::int64_t j = 0; j < s->n; j += S::kSize) {
      parts[have++] = {s, j};
      if (have == kSumsAtATime) add();
    }
  }
  add();
}

/// Two sums over the same rows are added together, which halves the reading.
template <class S>
void add_scaled_sums(const ScaledSum<typename S::Scalar>* sums, std::int64_t count, std::int64_t rows) {
  add_scaled_sums_by<S, 2>(sums, count, rows);
  add_scaled_sums_by<S, 1>(sums, count, rows);
}

}  // namespace lagtape
