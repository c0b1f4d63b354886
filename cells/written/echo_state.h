#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A leaky echo-state layer: a recurrence with fixed random weights, of which the read-out alone is trained, best by
/// {"type": "ridge"} (optim). Source: "Optimization and applications of echo state networks with leaky-integrator neurons"
/// (Jaeger et al. 2007), its leaky update, with the scales of "A Practical Guide to Applying Echo State Networks" (Lukosevicius
/// 2012).
///
///     h[n+1] = (1 - leak) h[n] + leak tanh(W h[n] + U x[n] + b)
///
/// Shapes: x [input], h and the output [units], W [units, units], U [units, input]. Nothing is trained. Initialization:
/// W a random orthogonal matrix times `spectral_radius`, so that all its eigenvalues have that modulus, where the paper
/// scales a random matrix to it; U and b from U(-input_scaling, input_scaling).
struct EchoState {
  static const LayerEntry kEntry;

  std::int64_t units = 0;        ///< size of the state, from 1; must be given
  double leak = 0.3;             ///< share of the state that a step replaces, in (0, 1]
  double spectral_radius = 0.9;  ///< modulus of the eigenvalues of W
  double input_scaling = 1;      ///< largest weight of an input

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
