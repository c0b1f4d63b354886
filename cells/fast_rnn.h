#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A plain network with a residual connection, weighted by two numbers.
/// Source: "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network"
/// (Kusupati et al. 2018), as in its code.
///
///     h[n+1] = sigmoid(beta) h[n] + sigmoid(alpha) f(W x[n] + U h[n] + b)
///
/// Shapes: x [input], h, b [units], W [units, input], U [units, units], alpha, beta []. With a rank r, W = W1
/// W2 with W1 [units, r], W2 [r, input]; U in the same way. Output: h[n+1]. Initialization: matrices from
/// N(0, 0.1^2), b = 1, alpha = -3, beta = 3.
struct FastRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;           ///< size of the state, from 1; must be given
  std::string activation = "tanh";  ///< f: "tanh", "sigmoid", "relu"
  std::int64_t rank_w = 0;          ///< rank of W; 0: full
  std::int64_t rank_u = 0;          ///< rank of U; 0: full

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
