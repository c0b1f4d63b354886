#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/cells/export/exported_model.h"

namespace lagtape {

/// A layer that other programs have under the same name and with the same equations: lstm, gru or rnn.
struct GatedLayer {
  std::string_view cell;  ///< "lstm", "gru" or "rnn"
  std::int64_t input = 0, units = 0;
  const ExportedLayer* layer = nullptr;

  /// A weight by its name in the cell: "W_i", "U_i.bias", ...
  const Tensor& weight(const std::string& name) const;
  /// The weights PREFIX + gate + SUFFIX of these gates, one below the other: [gates * units, ..].
  Tensor stacked(const std::string& prefix, const std::vector<std::string>& gates,
                 const std::string& suffix = "") const;
};

/// The layer as such a cell; empty unless its step is that cell's with the default options, whatever cell it
/// was made from. Holds a pointer to `layer`.
std::optional<GatedLayer> gated_layer(const ExportedLayer& layer);

/// The gates of an affine map y = W @ x + W.bias of every step; empty unless the step is one. Its weights are
/// "W" and "W.bias".
std::optional<GatedLayer> affine_layer(const ExportedLayer& layer);

}  // namespace lagtape
