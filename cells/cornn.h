#pragma once

#include <cstdint>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// Coupled oscillators, damped and driven: positions y and their velocities z.
/// Source: "Coupled Oscillatory Recurrent Neural Network (coRNN)", with explicit damping as in its code.
///
///     z[n+1] = z[n] + dt (tanh(Wz z[n] + Wy y[n] + V x[n]) - gamma y[n] - epsilon z[n])
///     y[n+1] = y[n] + dt z[n+1]
///
/// Shapes: z, y [units], Wz and Wy [units, units], V [units, input] with the one bias. Output: y[n+1].
/// Initialisation: everything from U(-1/sqrt(k), 1/sqrt(k)), k = input + 2 units, as for one map of [x, z,
/// y].
struct CoRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 1;
  double dt = 1;       ///< time step, > 0
  double gamma = 1;    ///< squared frequency of the oscillators without coupling
  double epsilon = 1;  ///< damping

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
