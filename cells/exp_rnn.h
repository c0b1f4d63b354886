#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A network whose recurrent matrix is orthogonal, as the exponential of a skew-symmetric one.
/// Source: "Cheap Orthogonal Constraints in Neural Networks: A Simple Parametrization of the Orthogonal and
/// Unitary Group" (Lezcano-Casado and Martinez-Rubio 2019), expRNN.
///
///     Q = exp(S - S^T), S strictly upper triangular
///     h[n+1] = modrelu(Q h[n] + V x[n]),    modrelu(u) = sign(u) relu(|u| + b)
///
/// Shapes: x [input], h, b [units]; S the units (units - 1) / 2 numbers of its triangle, row by row; V
/// [units, input], without a bias. Output: h[n+1]. Q^T Q = I and det Q = 1. S learns best at a tenth of the
/// learning rate of the others ("groups" of the optimizer). Initialization: S consists of 2 x 2 rotations
/// along the diagonal, by angles from U(-pi, pi) (start "henaff") or by -sqrt((1 - cos a) / (1 + cos a)), a
/// from U(0, pi / 2) (start "cayley"); V from N(0, 2 / input); b from U(-0.01, 0.01).
struct ExpRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;        ///< size of the state, from 2; must be given
  std::string start = "henaff";  ///< the initial values of S: "henaff", "cayley"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
