#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The minimal GRU, whose gate and candidate do not see the state, so that no matrix product waits for the step before.
/// Source: "Were RNNs All We Needed?" (Feng et al. 2024), Section 3.1; `positive`: Appendix B, "log-space".
///
///     z = sigmoid(W_z x[n] + b_z)
///     c = W_h x[n] + b_h                 with `candidate` "positive": g(c), g(a) = a + 0.5 from 0 on, else sigmoid(a)
///     h[n+1] = (1 - z) h[n] + z c
///
/// Shapes: x [input], h and the output [units], W_z, W_h [units, input]. Initialization: everything from
/// U(-1/sqrt(input), 1/sqrt(input)), that of PyTorch's linear maps, which the authors' code has.
struct MinGru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;            ///< size of the state, from 1; must be given
  std::string candidate = "linear";  ///< "linear" or "positive"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
