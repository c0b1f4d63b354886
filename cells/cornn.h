#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

/// Coupled oscillators, damped and driven by the input, with positions y and velocities z.
/// Source: "Coupled Oscillatory Recurrent Neural Network (coRNN): An accurate and (gradient) stable
/// architecture for learning long time dependencies" (Rusch and Mishra 2021), with explicit damping as in its
/// code.
///
///     z[n+1] = z[n] + dt (tanh(Wz z[n] + Wy y[n] + V x[n]) - gamma y[n] - epsilon z[n])
///     y[n+1] = y[n] + dt z[n+1]
///
/// Shapes: x [input], z, y [units], Wz and Wy [units, units], V [units, input] with the one bias. Output: y[n+1].
/// Initialization: everything from U(-1/sqrt(k), 1/sqrt(k)), k = input + 2 units, as for one map of [x, z, y].
struct CoRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;    ///< number of oscillators, from 1; must be given
  double dt = kNotSet;       ///< time step, > 0; must be given
  double gamma = kNotSet;    ///< squared frequency of an oscillator without coupling, >= 0; must be given
  double epsilon = kNotSet;  ///< damping, >= 0; must be given
  StepTime reads = {};       ///< the input column with the length of each step, which multiplies dt

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
