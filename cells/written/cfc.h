#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The closed-form continuous-time network: an interpolation in time between two functions of input and state.
/// Source: "Closed-form continuous-time neural networks" (Hasani et al. 2022), the
/// closed-form solution with a gate of time.
///
///     b = l(W_b x[n] + U_b h[n] + b_b), `backbone_layers` such maps, l(a) = 1.7159 tanh(0.666 a)
///     g = tanh(W_g b + b_g), k = tanh(W_k b + b_k)
///     s = sigmoid((W_s b + b_s) t + W_t b + b_t)          t: the time of the step
///     h[n+1] = (1 - s) g + s k
///
/// t is 1, or with `elapsed` the last input, the time since the step before, which the maps then do not see. Shapes: x
/// [input], h and the output [units], b [backbone]. Without backbone layers g, k and s see x and h. Initialization as
/// in the authors' code: matrices Xavier uniform (W_b and U_b as one), biases as PyTorch's linear maps have them.
struct Cfc {
  static const LayerEntry kEntry;

  std::int64_t units = 0;            ///< size of the state, from 1; must be given
  std::int64_t backbone = 128;       ///< size of the backbone's maps
  std::int64_t backbone_layers = 1;  ///< number of the backbone's maps
  bool elapsed = false;              ///< whether the last input is the time since the step before

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
