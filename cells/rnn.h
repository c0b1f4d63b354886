#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The plain recurrent network with tanh. Source: "Finding Structure in Time" (Elman 1990).
///
///     h[n+1] = tanh(W h[n] + U x[n])
///
/// Shapes: x [input], h [units], W [units, units], U [units, input], each with its own bias. Output: h[n+1].
/// Initialization: everything from U(-1/sqrt(units), 1/sqrt(units)).
struct Rnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the state, from 1; must be given

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
