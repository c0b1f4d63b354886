#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Legendre memory: a linear state that holds the last `theta` steps of a scalar, as weights of shifted
/// Legendre polynomials, and a nonlinear state that writes and reads it. Source: "Legendre Memory Units:
/// Continuous-Time Representation in Recurrent Neural Networks" (Voelker et al. 2019).
///
///     u = e_x . x[n] + e_h . h[n] + e_m . m[n]
///     m[n+1] = A m[n] + B u
///     h[n+1] = tanh(W_x x[n] + W_h h[n] + W_m m[n+1])
///
/// A and B are fixed: those of theta dm/dt = A m + B u, A_ij = (2i + 1) (-1 if i < j else (-1)^(i-j+1)), B_i
/// = (2i + 1) (-1)^i, over a step of 1, exact for a u that is held ("zoh") or I + A / theta ("euler").
/// Shapes: x [input], h [units], m [order], e_x [input], e_h [units], e_m [order], W_x [units, input], W_h
/// [units, units], W_m [units, order]; no biases. Output: h[n+1]. Initialization: e_x and e_h from U(-a, a),
/// a = sqrt(3 / size), e_m = 0, the matrices W [out, in] from N(0, 2 / (in + out)).
struct Lmu {
  static const LayerEntry kEntry;

  std::int64_t units = 0;              ///< size of the nonlinear state, from 1; must be given
  std::int64_t order = 0;              ///< number of polynomials, from 1; must be given
  double theta = 0;                    ///< number of steps that the memory holds, >= 1; must be given
  std::string discretization = "zoh";  ///< "zoh", "euler"
  bool input_to_hidden = true;         ///< whether W_x exists
  bool hidden_to_memory = true;        ///< whether e_h exists
  bool memory_to_memory = true;        ///< whether e_m exists

  Layer build(std::int64_t input) const;
};

/// A and B of the memory, in one matrix [order, order + 1], B last.
Tensor legendre_memory(std::int64_t order, double theta, const std::string& discretization);

}  // namespace lagtape
