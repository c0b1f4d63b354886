#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// A residual network with an antisymmetric recurrent matrix: a forward Euler step of a system at the edge of
/// stability. Source: "AntisymmetricRNN: A Dynamical System View on Recurrent Neural Networks" (Chang et al.
/// 2019).
///
///     A = W - W^T - gamma I, W strictly upper triangular
///     plain:     h[n+1] = h[n] + epsilon tanh(A h[n] + U x[n])
///     gated:     h[n+1] = h[n] + epsilon sigmoid(A h[n] + Uz x[n]) tanh(A h[n] + U x[n])
///     residual:  h[n+1] = h[n] + epsilon tanh(W h[n] + U x[n]), W any matrix: the baseline
///
/// Shapes: h [units]; W the units (units - 1) / 2 numbers of its triangle, row by row ([units, units] in
/// `residual`); U, Uz [units, input] with a bias. Output: h[n+1]. The eigenvalues of A have the real part
/// -gamma. Initialisation: W from N(0, 1 / units), U, Uz and their biases from U(-1/sqrt(input),
/// 1/sqrt(input)).
struct AntisymmetricRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 1;
  double epsilon = 0.01;       ///< time step, > 0
  double gamma = 0.0001;       ///< damping; none in `residual`
  std::string form = "plain";  ///< "plain", "gated", "residual"

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
