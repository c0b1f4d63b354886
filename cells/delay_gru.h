#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The simple delay GRU, Equation 12 of "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback".
///
///     g = sigmoid(W3 h[n] + U3 x[n])
///     h[n+1] = (1 - g) h[n] + g tanh(W1 h[n] + W2 h[n-tau] + U x[n])
///
/// Shapes: x [input], h [units], Wi [units, units], U and U3 [units, input], each with its own bias.
/// Output: h[n+1]. Initialization: everything from U(-1/sqrt(units), 1/sqrt(units)).
struct DelayGru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the state, from 1; must be given
  std::int64_t tau = -1;   ///< delay in steps, from 0; must be given

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
