#pragma once

#include <cstdint>

#include "lagtape/core/gradient_check.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// What a check of a whole model's gradients sampled, and what it found.
struct ModelGradients {
  GradientReport report;
  std::int64_t sequences = 0, steps = 0;       ///< of the batch
  std::int64_t elements = 0, projections = 0;  ///< at most, of each parameter
  int moves = 0;  ///< above 0: the closest comparison was with parameters moved at random, by 0.05 at most
};

struct ModelGradientOptions {
  std::int64_t sequences = 2;
  std::int64_t elements = 8;     ///< of each parameter, all when it has no more
  std::int64_t projections = 2;  ///< random directions of each parameter
  double tolerance = 1e-6;       ///< of the largest entry of a tensor
};

/// Compares the gradients of an experiment's loss by all of its parameters with central differences, in f64,
/// on the first sequences of train. They are cut to, or continued from their start up to, 3 x the largest lag
/// + 8 steps, so that every lag is reached more than once. Where they differ by more than the tolerance, as
/// they do across a kink of the loss, it compares again with shorter differences, and then with the
/// parameters moved; the closest comparison is reported. Throws InputError.
ModelGradients check_model_gradients(const Experiment& experiment, ThreadPool& pool,
                                     const ModelGradientOptions& options = {});

}  // namespace lagtape
