#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Gated recurrent unit, whose reset gate multiplies the product with the state and its bias, as in PyTorch
/// and cuDNN. Source: "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine
/// Translation" (Cho et al. 2014), where the reset gate multiplies the state.
///
///     r = sigmoid(W_r h[n] + U_r x[n])
///     z = sigmoid(W_z h[n] + U_z x[n])
///     c = tanh(U_n x[n] + r (W_n h[n]))
///     h[n+1] = (1 - z) c + z h[n]
///
/// Shapes: x [input], h [units], W_* [units, units], U_* [units, input], each with its own bias; r
/// multiplies the bias of W_n too. Output: h[n+1]. Initialization: everything from U(-1/sqrt(units),
/// 1/sqrt(units)).
struct Gru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the state, from 1; must be given

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
