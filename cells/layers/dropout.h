#pragma once

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// Dropout: y = mask * x in training, y = x otherwise; the mask is 0 with probability `rate`, else 1 / (1 -
/// rate). One mask a step (Srivastava et al. 2014), or one a sequence (variational: Gal and Ghahramani 2016).
/// Shapes: x, y [input]. No parameters.
struct Dropout {
  static const LayerEntry kEntry;

  double rate = 0.5;         ///< at least 0, below 1
  bool variational = false;  ///< one mask a sequence

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
