#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The gated delta network: a matrix of values by keys for each head, from which what a key held is taken out before its
/// new value is written. Source: "Gated Delta Networks: Improving Mamba2 with Delta Rule" (Yang, Kautz and Hatamizadeh
/// 2024), the gated delta rule and its block.
///
///     q, k, v = silu(conv(W_q x)), silu(conv(W_k x)), silu(conv(W_v x)); q and k of length 1; d = units / heads a head
///     alpha = exp(-exp(A_log) softplus(W_a x + b_a)), beta = sigmoid(W_b x)                      one number a head
///     S[n+1] = alpha S[n] (1 - beta k k^T) + beta v k^T
///     output = W_out (norm(S[n+1] q) silu(W_g x)),  norm(y) = gain y / sqrt(mean(y^2) + 1e-5) in each head
///
/// Shapes: x [input], S [heads, d, d], the output [units]; a length is sqrt(sum of squares + 1e-6). `conv` 0 leaves the
/// convolutions out. Values have as many numbers as keys. q is not scaled by 1 / sqrt(d). Initialization as in the
/// authors' code: matrices Xavier uniform with gain 2^-2.5, exp(A_log) from U(0, 16), softplus(b_a) log-uniform between
/// 0.001 and 0.1, convolutions from U(-1/sqrt(conv), 1/sqrt(conv)), gain 1.
struct GatedDeltanet {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the output, from 1; must be given
  std::int64_t heads = 1;  ///< matrices of state; they divide the units
  std::int64_t conv = 4;   ///< steps that the convolutions cover; 0: none

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
