#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A linear oscillatory state space: forced harmonic oscillators without damping, read by a matrix.
/// Source: "Oscillatory State-Space Models" (Rusch and Rus 2024), the oscillators and the discretizations IM and IMEX.
///
///     y'' = -A y + B x, output C y + D x;  A = relu(a), dt = sigmoid(s), one number of each for every oscillator
///
///     `method` "im":    z[n+1] = z[n] + dt (-A y[n+1] + B x[n]),  y[n+1] = y[n] + dt z[n+1]      implicit
///     `method` "imex":  z[n+1] = z[n] + dt (-A y[n]   + B x[n]),  y[n+1] = y[n] + dt z[n+1]      implicit, explicit
///
/// The implicit equations are solved for z[n+1] by 1 / (1 + dt^2 A). IMEX keeps volumes, and on the grid ("arithmetic")
/// its steps are undone exactly. Shapes: x [input], output [units], y, z, a, s [oscillators], B [oscillators, input], C
/// [units, oscillators]. D is a vector, one number for each channel; where input and units differ it is a matrix
/// [units, input]. These are the real matrices of the paper's equations; its code has complex ones, which are two
/// oscillators with one a and one s. Initialization: a, s from U(0, 1), B from U(-1/sqrt(input), 1/sqrt(input)), C from
/// U(-1/sqrt(oscillators), 1/sqrt(oscillators)), D from N(0, 1), a matrix D from N(0, 1 / input).
struct Linoss {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the output, from 1; must be given
  std::int64_t oscillators = 64;
  std::string method = "im";  ///< "im" or "imex"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
