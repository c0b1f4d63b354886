#pragma once

#include <cstdint>

#include "lagtape/core/gradient_check.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The sample sizes and the result of a check of a whole model's gradients.
struct ModelGradients {
  GradientReport report;
  std::int64_t sequences = 0, steps = 0;       ///< size of the batch
  std::int64_t elements = 0, projections = 0;  ///< maximum numbers for each parameter
  int moves = 0;  ///< above 0: the closest comparison was with parameters moved at random, by at most 0.05
  /// the experiment rounds the operands of products, but the comparison does not
  bool without_rounding = false;
};

struct ModelGradientOptions {
  std::int64_t sequences = 2;
  std::int64_t elements = 8;     ///< elements of each parameter, or all if it has fewer
  std::int64_t projections = 2;  ///< random directions for each parameter
  double tolerance = 1e-6;       ///< relative to the largest entry of a tensor
};

/// Compares the gradients of an experiment's loss with respect to all parameters with central differences, in
/// f64, on the first training sequences. These are cut or repeated to 3 x the largest lag + 8 steps, so that
/// every lag is reached more than once. If gradients and differences disagree by more than the tolerance, as
/// they do across a kink of the loss, it compares again with smaller steps, and then with moved parameters; the
/// closest comparison is reported. Throws InputError.
ModelGradients check_model_gradients(const Experiment& experiment, ThreadPool& pool,
                                     const ModelGradientOptions& options = {});

/// The check as `lagtape check --gradients --json` prints it.
Json json_of(const ModelGradients& gradients);

}  // namespace lagtape
