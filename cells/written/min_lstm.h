#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The minimal LSTM: gates and candidate do not see the state, and the gates are scaled to a sum of 1.
/// Source: "Were RNNs All We Needed?" (Feng et al. 2024), Section 3.2; `positive`: Appendix B, "log-space".
///
///     f = sigmoid(W_f x[n] + b_f), i = sigmoid(W_i x[n] + b_i)
///     c = W_h x[n] + b_h                 with `candidate` "positive": g(c), g(a) = a + 0.5 from 0 on, else sigmoid(a)
///     h[n+1] = f / (f + i) h[n] + i / (f + i) c
///
/// The quotient is computed as sigmoid(softplus(-(W_i x + b_i)) - softplus(-(W_f x + b_f))), which is the same number
/// where both gates are tiny. Shapes: x [input], h and the output [units], W_f, W_i, W_h [units, input].
/// Initialization: everything from U(-1/sqrt(input), 1/sqrt(input)), that of PyTorch's linear maps, which the authors'
/// code has.
struct MinLstm {
  static const LayerEntry kEntry;

  std::int64_t units = 0;            ///< size of the state, from 1; must be given
  std::string candidate = "linear";  ///< "linear" or "positive"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
