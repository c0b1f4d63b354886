#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {

/// A layer that other programs support too: lstm, gru and rnn, each with or without either of their two biases,
/// and affine maps ("linear"), with or without a bias and a function after them.
struct GatedLayer {
  std::string_view cell;  ///< "lstm", "gru", "rnn" or "linear"
  std::int64_t input = 0, units = 0;
  const ExportedLayer* layer = nullptr;
  bool resets_before = false;  ///< gru: the reset gate multiplies the state, not the product with its bias
  std::string function = {};   ///< linear: "tanh", "sigmoid", "relu", "elu" or none

  /// A weight by its name in the cell: "W_i", "U_i.bias", ...; zeros for a missing bias.
  Tensor weight(const std::string& name) const;
  /// The weights PREFIX + gate + SUFFIX of these gates, stacked: [gates * units, ..].
  Tensor stacked(const std::string& prefix, const std::vector<std::string>& gates,
                 const std::string& suffix = "") const;
};

/// The layer as such a cell, whatever its origin; empty unless its step matches one. Holds a pointer to
/// `layer`.
std::optional<GatedLayer> gated_layer(const ExportedLayer& layer);

}  // namespace lagtape
