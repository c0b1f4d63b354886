#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/kernels/product.inc.h"

namespace lagtape {

/// One vector of columns: the elements of a panel's rows, `step` apart, from column `column` on.
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

template <class S>
void update_traces(const TraceUpdate<typename S::Scalar>& u) {
  switch (u.states) {
    case 0: return update_trace_panels<S, 0, false>(u);
    case 1: return update_traces_of<S, 1>(u);
    case 2: return update_traces_of<S, 2>(u);
    case 3: return update_traces_of<S, 3>(u);
    default: return update_traces_of<S, 4>(u);
  }
}

}  // namespace lagtape
