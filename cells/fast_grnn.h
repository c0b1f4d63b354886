#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A gated network whose gate and candidate share their matrices.
/// Source: "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network"
/// (Kusupati et al. 2018), as in its code.
///
///     p = W x[n] + U h[n]
///     g = gate(p + b_g)
///     c = update(p + b_u)
///     h[n+1] = g h[n] + (sigmoid(zeta) (1 - g) + sigmoid(nu)) c
///
/// Shapes: x [input], h, b_g, b_u [units], W [units, input], U [units, units], zeta, nu []. With a rank r, W
/// = W1 W2 with W1 [units, r], W2 [r, input]; U in the same way. Output: h[n+1]. Initialization: matrices from N(0,
/// 0.1^2), b_g = b_u = 1, zeta = 1, nu = -4.
struct FastGrnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;        ///< size of the state, from 1; must be given
  std::string gate = "sigmoid";  ///< the gate's function: "tanh", "sigmoid", "relu"
  std::string update = "tanh";   ///< the candidate's function: "tanh", "sigmoid", "relu"
  std::int64_t rank_w = 0;       ///< rank of W; 0: full
  std::int64_t rank_u = 0;       ///< rank of U; 0: full

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
