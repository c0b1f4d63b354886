#pragma once

#include <string>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// A cell that runs over every sequence from its first step to its own last, and a second of the same kind,
/// with weights of its own, from the last to the first: y[n] = merge(forward[n], backward[n]), x [B, T,
/// input], y [B, T, 2 units] (concat) or [B, T, units] (sum, mean). Source: Schuster and Paliwal 1997.
///
/// A read-out of the last step reads what each has when it has seen the whole sequence: forward[L - 1] and
/// backward[0]; layers of a step between it and this one are then run once. Parameters are those of the cell,
/// "0.W" forward and "1.W" backward.
struct Bidirectional {
  static const LayerEntry kEntry;

  BuildLayer cell;
  std::string merge = "concat";  ///< "concat", "sum", "mean"

  void read(JsonReader& reader, const ReadInner& inner);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
