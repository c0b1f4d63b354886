#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A trained vector for each token: y = E[x]. In training, random rows of E are set to zero for a whole batch:
/// E[i] * mask_i, where mask_i is 0 with probability `dropout`, else 1 / (1 - dropout) (Gal and Ghahramani
/// 2016). The vector of the token `padding` stays zero. Beyond the end of a sequence, y is zero. A tied
/// read-out uses E as its matrix, without that dropout.
///
/// Shapes: x [B, T, 1], whole numbers from 0, y [B, T, units], E [vocabulary, units]. Initialization: N(0, 1).
struct Embedding {
  static const LayerEntry kEntry;

  std::int64_t units = 0;       ///< size of a token's vector, from 1; must be given
  std::int64_t vocabulary = 0;  ///< number of tokens; 0: taken from the data
  std::int64_t padding = -1;    ///< the token whose vector stays zero; -1: none
  double dropout = 0;           ///< probability that a row is set to zero, from 0 to below 1

  /// `tokens` is their number in the data, or 0 if unknown. Throws InputError if the two contradict each other.
  Layer build(std::int64_t tokens) const;
};

}  // namespace lagtape
