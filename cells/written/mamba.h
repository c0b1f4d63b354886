#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The selective state space: a diagonal one for each channel, whose step, input and output weights depend on the input,
/// with the block around it. Source: "Mamba: Linear-Time Sequence Modeling with Selective State Spaces" (Gu and Dao
/// 2023), Algorithm 2 and Figure 3.
///
///     D = softplus(W_dt (W_rank u) + b_dt), B = W_B u, C = W_C u
///     S[n+1] = exp(D A) S[n] + D B u, A = -exp(A_log)               [units, states]
///     y = S[n+1] C + d u
///
/// With `block`: v = W_in x is convolved over `conv` steps, u = silu(conv(v)), and the output is W_out (y silu(W_z x)).
/// Without: u = x, or W_in x where input and units differ, and the output is y. Shapes: x [input], u, y, D, d, the output
/// [units], B, C [states], W_rank [rank, units]; rank 0 is units / 16, rounded up. Initialization: A_log = log(1 ..
/// states), d = 1, softplus(b_dt) log-uniform between 0.001 and 0.1, W_dt from U(-1/sqrt(rank), 1/sqrt(rank)), the others
/// and the convolution with its bias as PyTorch has them, U(-1/sqrt(n), 1/sqrt(n)) of n columns or taps.
struct Mamba {
  static const LayerEntry kEntry;

  std::int64_t units = 0;    ///< number of channels, from 1; must be given
  std::int64_t states = 16;  ///< numbers of state for each channel
  std::int64_t rank = 0;     ///< rank of the map from u to the time steps; 0: units / 16, rounded up
  bool block = true;         ///< whether the maps, the convolution and the gate of the block are there
  std::int64_t conv = 4;     ///< steps that the convolution covers

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
