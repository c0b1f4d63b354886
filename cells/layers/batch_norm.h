#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Batch normalization: y = gain * (x - m) / sqrt(v + eps) + bias. In training m and v are the mean and the
/// variance of each feature over a batch, over all steps within the lengths of its sequences; in evaluation
/// they are the running mean and variance,
///
///     mean' = (1 - momentum) * mean + momentum * m
///     variance' = (1 - momentum) * variance + momentum * v * count / (count - 1)
///
/// so the layer is an affine map of every step and can stream. Source: Ioffe and Szegedy 2015. Shapes: x, y [B,
/// T, input], gain, bias, mean, variance [input]. Initialization: gain 1, bias 0, mean 0, variance 1; the last
/// two are saved with the model and not trained.
struct BatchNorm {
  static const LayerEntry kEntry;

  double eps = 1e-5;      ///< added to the variance, > 0
  double momentum = 0.1;  ///< the batch's share in the running mean and variance, in [0, 1]
  bool affine = true;     ///< false: gain = 1 and bias = 0, which are not parameters

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
