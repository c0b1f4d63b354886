#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The LSTM whose state is a matrix of values by keys for each head, with exponential gates, a normalizer and a
/// stabilizer. Source: "xLSTM: Extended Long Short-Term Memory" (Beck et al. 2024), the cell mLSTM
/// with its stabilizer.
///
///     q = W_q x[n] + b_q, k = W_k x[n] / sqrt(d) + b_k, v = W_v x[n] + b_v          d = units / heads numbers a head
///     i = w_i x[n] + b_i, f = log sigmoid(w_f x[n] + b_f), or without log sigmoid ("exp")            one number a head
///     m[n+1] = max(f + m[n], i)
///     C[n+1]  = exp(f + m[n] - m[n+1]) C[n]  + exp(i - m[n+1]) v k^T
///     nu[n+1] = exp(f + m[n] - m[n+1]) nu[n] + exp(i - m[n+1]) k
///     output = sigmoid(W_o x[n] + b_o) (C[n+1] q) / max(|nu[n+1] . q|, exp(-m[n+1]))
///
/// Shapes: x [input], C [heads, d, d], nu [heads, d], m [heads], output [units]. nu is the paper's n. The bound exp(-m)
/// is the paper's 1 for states that the stabilizer has scaled. The convolution, the norm and the maps of the paper's
/// block are not part of it. Initialization as in the authors' code: W_* from N(0, 2 / (5 input)), w_i, w_f and the
/// biases 0, b_i from N(0, 0.01), b_f evenly from 3 to 6 over the heads.
struct Mlstm {
  static const LayerEntry kEntry;

  std::int64_t units = 0;          ///< size of the output, from 1; must be given
  std::int64_t heads = 1;          ///< matrices of state; they divide the units
  std::string forget = "sigmoid";  ///< the forget gate: "sigmoid" or "exp"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
