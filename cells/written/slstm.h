#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The LSTM with exponential gates, a normalizer and a stabilizer; its heads do not see each other's states.
/// Source: "xLSTM: Extended Long Short-Term Memory" (Beck et al. 2024), the cell sLSTM with its stabilizer.
///
///     z = tanh(W_z x[n] + R_z h[n] + b_z), o = sigmoid(W_o x[n] + R_o h[n] + b_o)
///     i = W_i x[n] + R_i h[n] + b_i, f = log sigmoid(W_f x[n] + R_f h[n] + b_f), or without log sigmoid ("exp")
///     m[n+1] = max(f + m[n], i), or i where nothing is stored (nu[n] = 0)
///     c[n+1]  = exp(f + m[n] - m[n+1]) c[n]  + exp(i - m[n+1]) z
///     nu[n+1] = exp(f + m[n] - m[n+1]) nu[n] + exp(i - m[n+1])
///     h[n+1] = o c[n+1] / nu[n+1]
///
/// Shapes: x [input], all states and the output [units], W_* [units, input], R_* block-diagonal, `heads` blocks. nu is
/// the paper's n. The convolution, the group norm and the feed-forward map of the paper's block are not part of it.
/// Initialization as in the authors' code: W_* from N(0, 2 / (5 input)), R_* and the biases 0, b_f from 5 down to -7 in
/// each head, 5 - 12 (k / (size - 1))^0.3.
struct Slstm {
  static const LayerEntry kEntry;

  std::int64_t units = 0;          ///< size of the states, from 1; must be given
  std::int64_t heads = 1;          ///< blocks of the recurrent matrices, which divide the units
  std::string forget = "sigmoid";  ///< the forget gate: "sigmoid" or "exp"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
