#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// A trained vector for each token: y = E[x], x [B, T, 1] the numbers of tokens, y [B, T, units], E
/// [vocabulary, units]. In training whole rows of E are left out at random for a batch, E[i] * mask_i with
/// mask_i = 0 with probability `dropout`, else 1 / (1 - dropout) (Gal and Ghahramani 2016). The vector of the
/// token `padding` is zeros and stays so. What follows a sequence's end is zeros. A tied read-out has E as
/// its matrix, whole rows of it whatever is left out.
///
/// Initialisation: N(0, 1).
struct Embedding {
  static const LayerEntry kEntry;

  std::int64_t units = 1;
  std::int64_t vocabulary = 0;  ///< 0: as the data have it
  std::int64_t padding = -1;    ///< -1: none
  double dropout = 0;           ///< at least 0, below 1

  void read(JsonReader& reader);
  /// `tokens` of the data, 0 where it is not known.
  Layer build(std::int64_t tokens) const;
};

}  // namespace lagtape
