#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// Units that know no other unit of their layer.
/// Source: "Independently Recurrent Neural Network (IndRNN): Building A Longer and Deeper RNN" (Li et al.
/// 2018).
///
///     h[n+1] = relu(W x[n] + w_clipped * h[n]),    w_clipped = w clipped to [-r, r], r = 2^(1 / longest)
///
/// Shapes: h, w [units], W [units, input] with a bias. Output: h[n+1]. |w| <= r keeps what is remembered for
/// `longest` steps below twice its size. Initialisation: W from N(0, 0.001^2), its bias 0, w from U(-r, r)
/// or, for the top layer of a stack ("start": "ones"), 1.
struct IndRnn {
  static const LayerEntry kEntry;

  std::int64_t units = 1;
  double longest = 0;  ///< the number of steps in which a state at most doubles; 0: w is not clipped
  std::string start = "uniform";  ///< first values of w: "uniform", "ones"

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
