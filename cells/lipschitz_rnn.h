#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A residual network whose matrices are partly symmetric and partly antisymmetric, so that its Lipschitz
/// constant can be bounded. Source: "Lipschitz Recurrent Neural Networks" (Erichson et al. 2021), as in its
/// code.
///
///     A = (1 - beta) (M_A + M_A^T) + beta (M_A - M_A^T) - gamma I      W of M_W in the same way
///     h[n+1] = h[n] + epsilon (alpha A h[n] + tanh(W h[n] + U x[n]))
///
/// Shapes: x [input], h [units], M_A, M_W [units, units], U [units, input] with the only bias. Output: h[n+1].
/// Initialization: M from N(0, (init_deviation / units)^2), U and its bias from U(-1/sqrt(input), 1/sqrt(input)). For
/// beta = 1 the eigenvalues of A have the real part -gamma.
struct LipschitzRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;       ///< size of the state, from 1; must be given
  double epsilon = 0.03;        ///< time step, > 0
  double alpha = 1;             ///< weight of the linear part
  double beta = 0.75;           ///< 0: symmetric, 1: antisymmetric
  double gamma = 0.001;         ///< damping
  double init_deviation = 0.1;  ///< standard deviation of the initial values of M, times units

  Layer build(std::int64_t input) const;
};

/// (1 - beta) (M + M^T) + beta (M - M^T) - gamma I for a square matrix M.
Var mixed_symmetry(const Var& M, double beta, double gamma);

}  // namespace lagtape
