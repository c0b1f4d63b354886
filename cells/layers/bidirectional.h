#pragma once

#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A cell that runs over every sequence from its first step to its last, and a second one of the same kind,
/// with its own weights, that runs from the last step to the first: y[n] = merge(forward[n], backward[n]).
/// Source: "Bidirectional Recurrent Neural Networks" (Schuster and Paliwal 1997).
///
/// Shapes: x [B, T, input], y [B, T, 2 units] (concat) or [B, T, units] (sum, mean). A read-out of the last
/// step L - 1 reads the two outputs that have seen the whole sequence, forward[L - 1] and backward[0];
/// per-step layers between this one and the read-out then run once. The parameters are those of the cell,
/// "0.W" forward and "1.W" backward.
struct Bidirectional {
  static const LayerEntry kEntry;

  BuildLayer cell = {};          ///< must be given
  std::string merge = "concat";  ///< "concat", "sum", "mean"

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
