#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A residual network with an antisymmetric recurrent matrix: a forward Euler step of a system at the edge of
/// stability. Source: "AntisymmetricRNN: A Dynamical System View on Recurrent Neural Networks" (Chang et al.
/// 2019).
///
///     A = W - W^T - gamma I, W strictly upper triangular
///     plain:     h[n+1] = h[n] + epsilon tanh(A h[n] + U x[n])
///     gated:     h[n+1] = h[n] + epsilon sigmoid(A h[n] + Uz x[n]) tanh(A h[n] + U x[n])
///     residual:  h[n+1] = h[n] + epsilon tanh(W h[n] + U x[n]), W any matrix, as a baseline
///
/// Shapes: x [input], h [units]; W the units (units - 1) / 2 numbers of its triangle, row by row ([units,
/// units] in the form residual); U, Uz [units, input], each with a bias. Output: h[n+1]. The eigenvalues of A
/// have the real part -gamma. Initialization: W from N(0, 1 / units), U, Uz and their biases from
/// U(-1/sqrt(input), 1/sqrt(input)).
struct AntisymmetricRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;      ///< size of the state, from 2; must be given
  double epsilon = 0.01;       ///< time step, > 0
  double gamma = 0.0001;       ///< damping; unused in the form residual
  std::string form = "plain";  ///< "plain", "gated", "residual"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
