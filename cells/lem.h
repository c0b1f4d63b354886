#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

/// Long expressive memory: two states, whose time scales are learned functions of state and input.
/// Source: "Long Expressive Memory for Sequence Modeling" (LEM), Equation 3.
///
///     dz = dt sigmoid(W1 y[n] + V1 x[n])
///     dy = dt sigmoid(W2 y[n] + V2 x[n])
///     z[n+1] = (1 - dz) z[n] + dz tanh(Wz y[n] + Vz x[n])
///     y[n+1] = (1 - dy) y[n] + dy tanh(Wy z[n+1] + Vy x[n])
///
/// Shapes: x [input], z, y [units], W* [units, units], V* [units, input]; each W and each V has its own bias. Output:
/// y[n+1]. Initialization: everything from U(-1/sqrt(units), 1/sqrt(units)); with `chrono` all biases are zero but
/// W1.bias = -log U(1, chrono dt - 1).
struct Lem {
  static const LayerEntry kEntry;

  std::int64_t units = 0;     ///< size of each of the two states, from 1; must be given
  double dt = 1;              ///< longest time scale, > 0
  bool multiscale = true;     ///< false: dz = dy = dt, without W1, V1, W2, V2
  double chrono = 0;          ///< longest time, in steps, for the initial values of dz; 0: not used
  double smallest_scale = 0;  ///< dz and dy are clipped to [smallest_scale, 1]; 0: they are not clipped
  StepTime reads = {};        ///< the input column with the length of each step, which multiplies dt

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
