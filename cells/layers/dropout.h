#pragma once

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/options.h"

namespace lagtape {

/// Dropout: y = mask * x in training, y = x otherwise; the mask is 0 with probability `rate`, else 1 / (1 -
/// rate). A mask is drawn for every step (Srivastava et al. 2014), or once per sequence (variational: Gal and
/// Ghahramani 2016). Shapes: x, y [input]. No parameters.
struct Dropout {
  static const LayerEntry kEntry;

  double rate = kNotSet;     ///< probability that an element is set to zero, from 0 to below 1; must be given
  bool variational = false;  ///< one mask for all steps of a sequence

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
