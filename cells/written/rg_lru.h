#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The real-gated linear recurrent unit, with the recurrent block around it. Source: "Griffin: Mixing Gated Linear
/// Recurrences with Local Attention for Efficient Language Models" (De et al. 2024), the
/// layer RG-LRU and the recurrent block.
///
///     r = sigmoid(W_a u + b_a), i = sigmoid(W_x u + b_x)
///     a = exp(-c softplus(L) r), c = 8
///     h[n+1] = a h[n] + sqrt(1 - a^2) (i u)
///
/// With `block`: v = W_in x + b is convolved over `conv` steps to u, and the output is W_out (gelu(W_g x + b_g) h[n+1])
/// + b. Without: u = x, or W_in x where input and units differ, and the output is h[n+1]. Shapes: x [input], h and the
/// output [units]; W_a, W_x are block-diagonal, `heads` blocks. sqrt(1 - a^2) is not below 1e-6, so that its derivative
/// is finite. Initialization: exp(-8 softplus(L)) from U(0.9, 0.999), matrices from N(0, 1 / columns), the convolution
/// from N(0, 0.01 / conv), biases 0.
struct RgLru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the state and of the output, from 1; must be given
  std::int64_t heads = 1;  ///< blocks of the gates' matrices, which divide the units
  bool block = true;       ///< whether the maps, the convolution and the gate of the block are there
  std::int64_t conv = 4;   ///< steps that the convolution covers

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
