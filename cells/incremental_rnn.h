#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A network whose every step moves towards an equilibrium of the state, in a few Euler steps.
/// Source: "RNNs Incrementally Evolving on an Equilibrium Manifold: A Panacea for Vanishing and Exploding
/// Gradients?" (Kag et al. 2020), iRNN.
///
///     v_0 = 0
///     v_i = v_(i-1) + eta_i (f(U (v_(i-1) + h[n]) + W x[n]) - alpha (v_(i-1) + h[n]))
///     h[n+1] = v_k
///
/// with i = 1 .. k, k = inner_steps. Shapes: x [input], h, v [units], U [units, units], W [units, input] with
/// the only bias, eta_i []. Output: h[n+1]. At the equilibrium the Jacobian of h[n+1] by h[n] is minus the identity.
/// Initialization: eta = 0.01, the others from U(-1/sqrt(units), 1/sqrt(units)). The paper leaves f open: tanh here.
struct IncrementalRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;           ///< size of the state, from 1; must be given
  std::int64_t inner_steps = 1;     ///< Euler steps per input
  double alpha = 1;                 ///< pull towards zero, > 0
  std::string activation = "tanh";  ///< f: "tanh", "sigmoid", "relu"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
