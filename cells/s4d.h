#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A block of diagonal linear state spaces, one for each channel, with a gated map of the channels, a
/// residual connection and a layer norm. Source: "On the Parameterization and Initialization of Diagonal
/// State Space Models" (Gu et al. 2022), as in its minimal code.
///
///     A = -exp(log_A) + i A_imag, dt = exp(log_dt)          complex, `states` / 2 for each channel
///     s[n+1] = exp(A dt) s[n] + x[n]
///     y = 2 Re(sum of (C (exp(A dt) - 1) / A) s[n+1]) + D x[n]
///     g = gelu(y)                                           y Phi(y), or its approximation with tanh
///     r = x[n] + (W1 g) sigmoid(W2 g)
///     output = scale (r - mean(r)) / sqrt(var(r) + 1e-5) + shift
///
/// The input weights (exp(A dt) - 1) / A multiply C instead of x, which gives the same y. The paper's code uses
/// the exact gelu, the option "exact"; "tanh" differs by at most 4.74e-4, and remains the default because
/// models of this cell used it before there was a choice. Shapes: x and the output [units]; re, im (of s)
/// [units, states / 2]; log_dt, D, scale, shift [units]; log_A, A_imag, C_re, C_im [units, states / 2]; W1, W2
/// [units, units] with biases. The input must have `units` channels, which a linear layer before it provides.
/// There is no dropout. Initialization: log_dt from U(log 0.001, log 0.1), log_A = log 1/2, A_imag = pi k, C
/// from the complex N(0, 1), D from N(0, 1), W1, W2 and their biases from U(-1/sqrt(units), 1/sqrt(units)),
/// scale = 1, shift = 0.
struct S4d {
  static const LayerEntry kEntry;

  std::int64_t units = 0;     ///< number of channels, from 1; must be given
  std::int64_t states = 64;   ///< real numbers of state for each channel, even
  std::string gelu = "tanh";  ///< "tanh" or "exact"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
