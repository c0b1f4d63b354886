#pragma once

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Layer normalization of every step: y = gain * (x - m) / sqrt(v + eps) + bias with m and v the mean and the
/// variance of the elements of x. Source: "Layer Normalization" (Ba, Kiros and Hinton 2016). Shapes: x, y,
/// gain, bias [input]. Initialization: gain 1, bias 0.
struct LayerNorm {
  static const LayerEntry kEntry;

  double eps = 1e-5;  ///< added to the variance, > 0

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
