#pragma once

#include <cstdint>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// Batch normalisation: in training y = gain * (x - m) / sqrt(v + eps) + bias with m and v the mean and the
/// variance of each feature over a batch, all steps within the sequences' lengths; in evaluation with the
/// running ones,
///
///     mean' = (1 - momentum) * mean + momentum * m
///     variance' = (1 - momentum) * variance + momentum * v * count / (count - 1)
///
/// where it is an affine map of every step, and streams. Source: Ioffe and Szegedy 2015. Shapes: x, y [B, T,
/// input], gain, bias, mean, variance [input]. Initialisation: gain 1, bias 0, mean 0, variance 1; the last
/// two are kept with the model and not trained.
struct BatchNorm {
  static const LayerEntry kEntry;

  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = true;  ///< gain and bias; else 1 and 0

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
