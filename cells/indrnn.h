#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A network of independent units: each sees the input and its own state, but no other unit.
/// Source: "Independently Recurrent Neural Network (IndRNN): Building A Longer and Deeper RNN" (Li et al.
/// 2018).
///
///     h[n+1] = relu(W x[n] + w_clipped * h[n]),    w_clipped = w clipped to [-r, r], r = 2^(1 / longest)
///
/// Shapes: x [input], h, w [units], W [units, input] with a bias. Output: h[n+1]. With |w| <= r a state at
/// most doubles in `longest` steps. Initialization: W from N(0, 0.001^2), its bias 0, w from U(-r, r), or w =
/// 1 for the top layer of a stack (start "ones").
struct IndRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the state, from 1; must be given
  /// number of steps in which a state can at most double; 0: w is not clipped
  double longest = 0;
  std::string start = "uniform";  ///< the initial values of w: "uniform", "ones"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
