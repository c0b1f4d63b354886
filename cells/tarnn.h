#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A network whose every step solves an ordinary differential equation for a while, with trained time
/// constants.
/// Source: "Time Adaptive Recurrent Neural Network" (Kag and Saligrama 2021), as in its code.
///
///     r = U2 h[n] + W1 x[n] + W2 x[n-1]          x[-1] = x[0]
///     s = sigmoid(Ug h[n] + Wg x[n])
///     F(q) = f(U1 q + r) - q - h[n] + (B1 x[n] + B2 h[n]),      q_0 = h[n]
///     output:  q_k = (1 - Ak[n]) q_(k-1) + Ak[n] F(q_(k-1)),    h[n+1] = (1 - s) h[n] + s q_(inner_steps)
///     inner:   q_k = q_(k-1) + Ak[n] s F(q_(k-1)),              h[n+1] = q_(inner_steps)
///
/// Shapes: x [input], h, q [units], U1, U2, B2, Ug [units, units], W1, W2, B1, Wg [units, input], Ak
/// [length], k = 1 .. inner_steps; steps beyond `length` use the last number of Ak. U2, W1 and Wg have
/// biases, two of them for r, where the code has one and another that it does not use. Output: h[n+1]. Initialization:
/// matrices from N(0, 0.1^2), Ak = 0.01, biases 0 but Wg.bias = -3 with the gate at the output.
struct Tarnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;           ///< size of the state, from 1; must be given
  std::int64_t length = 0;          ///< number of steps with their own time constants, from 1; must be given
  std::int64_t inner_steps = 1;     ///< Euler steps per input
  std::string gate = "output";      ///< where s applies: "output", "inner"
  std::string activation = "relu";  ///< f: "tanh", "sigmoid", "relu"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
