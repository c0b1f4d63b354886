#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Long short-term memory with a forget gate and no peepholes. Source: "Long Short-Term Memory" (Hochreiter
/// and Schmidhuber 1997); the forget gate: "Learning to Forget" (Gers, Schmidhuber and Cummins 2000).
///
///     i = sigmoid(W_i h[n] + U_i x[n])      f = sigmoid(W_f h[n] + U_f x[n])
///     g = tanh(W_g h[n] + U_g x[n])         o = sigmoid(W_o h[n] + U_o x[n])
///     c[n+1] = f c[n] + i g
///     h[n+1] = o tanh(c[n+1])
///
/// With `scaling` the memory is updated with scaled gates ("Long Expressive Memory for Sequence Modeling",
/// Table 11): "v1" with dt f and dt i, "v2" with (1 - dt) f and dt i.
///
/// Shapes: x [input], h, c [units], W_* [units, units], U_* [units, input], each with its own bias.
/// Output: h[n+1]. Initialization: everything from U(-1/sqrt(units), 1/sqrt(units)); with `chrono` (Tallec
/// and Ollivier 2018) all biases are zero but W_f.bias = log U(1, chrono - 1) and W_i.bias = -W_f.bias.
struct Lstm {
  static const LayerEntry kEntry;

  std::int64_t units = 0;        ///< size of the state, from 1; must be given
  bool forget_gate = true;       ///< false: f = 1, without W_f and U_f
  double chrono = 0;             ///< longest time, in steps, of the initial memory; 0: not used
  std::string scaling = "none";  ///< "none", "v1", "v2"
  double dt = 1;                 ///< time step of `scaling`, > 0

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
