#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A Lipschitz network with a learned time step for each unit, and with multiplicative and additive noise in
/// training.
/// Source: "Noisy Recurrent Neural Networks" (Lim et al. 2021), as in its code.
///
///     A = (1 - beta) (M_A + M_A^T) + beta (M_A - M_A^T) - gamma_a I      W of M_W and gamma_w
///     h[n+1] = h[n] + d m (A h[n] + tanh(W h[n] + U x[n])) + a
///
/// In training m is drawn from U(1 - multiplicative, 1) and a from N(0, additive^2), anew for every unit and
/// step; in evaluation m = 1 and a = 0.
///
/// Shapes: x [input], h, d [units], M_A, M_W [units, units], U [units, input] with the only bias. Output: h[n+1].
/// Initialization: d = epsilon, M from N(0, (init_deviation / units)^2), U and its bias from U(-1/sqrt(input),
/// 1/sqrt(input)).
struct NoisyRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;        ///< size of the state, from 1; must be given
  double epsilon = 0.01;         ///< initial value of the time steps d, > 0
  double beta = 0.75;            ///< 0: symmetric, 1: antisymmetric
  double gamma_a = 0.001;        ///< damping of A
  double gamma_w = 0.001;        ///< damping of W
  double additive = 0.02;        ///< standard deviation of the noise added in a step
  double multiplicative = 0.02;  ///< largest fraction by which a training step is shortened
  double init_deviation = 0.1;   ///< standard deviation of the initial values of M, times units

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
