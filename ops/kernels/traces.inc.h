#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/kernels/product.inc.h"

namespace lagtape {

/// One vector of columns: the elements of a panel's rows, `step` apart, starting at column `column`.
template <class S, int states, bool has_before>
void update_trace_vector(const TraceUpdate<typename S::Scalar>& u, std::int64_t first, std::int64_t step,
                         std::int64_t column) {
  using V = typename S::Vector;
  V carry[states * states + 1], entry[states + 1], credit[states + 1], before[states + 1];
  for (int s = 0; s < states; ++s) {
    for (int r = 0; r < states; ++r)
      carry[s * states + r] = V::load_aligned(u.carry[s * states + r] + column);
    entry[s] = V::load_aligned(u.entry[s] + column);
    credit[s] = V::load_aligned(u.credit[s] + column);
    if (has_before) before[s] = V::load_aligned(u.before[s] + column);
  }
  const bool is_direct = u.direct != nullptr;
  const V direct = is_direct ? V::load_aligned(u.direct + column) : V(0);
  for (std::int64_t j = 0; j < u.k; ++j) {
    const std::int64_t at = first + j * step;
    const V x(u.x[j]);
    V old[states + 1], w = V::load_aligned(u.w + at);
    for (int s = 0; s < states; ++s) old[s] = V::load_aligned(u.traces[s] + at);
    for (int s = 0; s < states && has_before; ++s) w = S::fma(before[s], old[s], w);
    for (int s = 0; s < states; ++s) {
      V after = carry[s * states] * old[0];
      for (int r = 1; r < states; ++r) after = S::fma(carry[s * states + r], old[r], after);
      after = S::fma(entry[s], x, after);
      after.store_aligned(u.traces[s] + at);
      w = S::fma(credit[s], after, w);
    }
    if (is_direct) w = S::fma(direct, x, w);
    w.store_aligned(u.w + at);
  }
}

template <class S, int states, bool has_before>
void update_trace_panels(const TraceUpdate<typename S::Scalar>& u) {
  for (std::int64_t start = 0; start < u.columns; start += kPanel<S>) {
    const std::int64_t step = std::min<std::int64_t>(u.columns - start, kPanel<S>);
    for (std::int64_t c = 0; c < step; c += S::kSize)
      update_trace_vector<S, states, has_before>(u, start * u.k + c, step, start + c);
  }
}

template <class S, int states>
void update_traces_of(const TraceUpdate<typename S::Scalar>& u) {
  if (u.before[0] == nullptr) return update_trace_panels<S, states, false>(u);
  update_trace_panels<S, states, true>(u);
}

/// out[j] = sum over i < 2 size of a[2 size j + i], in halves: the last step of a sum over kLane lanes.
template <class T, int size>
void add_halves(T* __restrict out, const T* __restrict a, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j)
    for (int i = 0; i < size; ++i) out[j * size + i] = a[2 * size * j + i] + a[2 * size * j + size + i];
}

/// w^T direct, and then w + direct x^T, in one pass over w. Products are added lane by lane, each lane in
/// column order, and the lanes in halves, so all levels give the same bits.
template <class S>
void move_backward(const TraceUpdate<typename S::Scalar>& u) {
  using T = typename S::Scalar;
  using V = typename S::Vector;
  constexpr int vectors = kLane<T> / S::kSize;  // of a lane's 64 bytes
  for (std::int64_t start = 0; start < u.columns; start += kPanel<S>) {
    const std::int64_t step = std::min<std::int64_t>(u.columns - start, kPanel<S>);
    T* w = u.w + start * u.k;
    for (std::int64_t j = 0; j < u.k; ++j, w += step) {
      T* const sums = u.scratch + j * kLane<T>;
      const V x(u.x[j]);
      V sum[vectors];
      for (int v = 0; v < vectors; ++v) sum[v] = start == 0 ? V(T(0)) : V::load_aligned(sums + v * S::kSize);
      const auto add = [&](std::int64_t c, int v) {
        const V direct = V::load_aligned(u.direct + start + c), old = V::load_aligned(w + c);
        sum[v] = S::fma(direct, old, sum[v]);
        S::fma(direct, x, old).store_aligned(w + c);
      };
      if constexpr (kPanel<S> % kLane<T> == 0) {
        for (std::int64_t c = 0; c < step; c += kLane<T>)
          for (int v = 0; v < vectors; ++v) add(c + v * S::kSize, v);
      } else {
        for (std::int64_t c = 0; c < step; c += S::kSize)
          add(c, static_cast<int>((start + c) / S::kSize % vectors));
      }
      for (int v = 0; v < vectors; ++v) sum[v].store_aligned(sums + v * S::kSize);
    }
  }
  T *a = u.scratch, *b = u.scratch + u.k * kLane<T>;
  if constexpr (kLane<T> == 16) {
    add_halves<T, 8>(b, a, u.k);
    std::swap(a, b);
  }
  add_halves<T, 4>(b, a, u.k);
  add_halves<T, 2>(a, b, u.k);
  add_halves<T, 1>(u.backward, a, u.k);
}

template <class S>
void update_traces(const TraceUpdate<typename S::Scalar>& u) {
  if (u.backward != nullptr) return move_backward<S>(u);
  switch (u.states) {
    case 0: return update_trace_panels<S, 0, false>(u);
    case 1: return update_traces_of<S, 1>(u);
    case 2: return update_traces_of<S, 2>(u);
    case 3: return update_traces_of<S, 3>(u);
    default: return update_traces_of<S, 4>(u);
  }
}

}  // namespace lagtape
