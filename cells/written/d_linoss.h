#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A linear oscillatory state space with trained damping. Source: "Learning to Dissipate Energy in Oscillatory
/// State-Space Models" (Boyer, Rusch and Rus 2025), the damped oscillators, their
/// discretization, and the clamp of A.
///
///     y'' = -A y - G y' + B x, output C y + D x
///     z[n+1] = z[n] + dt (-A y[n] - G z[n+1] + B x[n])
///     y[n+1] = y[n] + dt z[n+1]
///     dt = sigmoid(s), G = relu(g), w = 1 + dt G, A = a clamped to [(sqrt(w) - 1)^2, (sqrt(w) + 1)^2] / dt^2
///
/// The clamp makes the eigenvalues of a step complex, of modulus 1 / sqrt(w) <= 1. Shapes and the form of B, C and D are
/// the same as in `linoss`. Initialization: s is drawn from N(0, 1/4), the squared modulus of the eigenvalues from
/// U(r_min^2, r_max^2) and their angles from U(0, pi); g and a follow from them. The others begin as in `linoss`.
struct DLinoss {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the output, from 1; must be given
  std::int64_t oscillators = 64;
  double r_min = 0.9, r_max = 1;  ///< the first moduli of eigenvalues, 0 < r_min < r_max <= 1

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
