#pragma once

#include <vector>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The losses of a training whose learning rate grows from update to update.
struct RateFinding {
  std::vector<double> rates, losses;  ///< by update; losses are running means
  double suggested = 0;               ///< a tenth of the rate with the smallest loss
};

/// Trains for up to 100 updates while the learning rate grows evenly in its logarithm from 1e-6 to 1, and stops
/// when the loss has risen to four times its smallest value or is not finite (the range test of Smith 2017,
/// arXiv:1506.01186). Nothing is written. Throws as a training does.
RateFinding find_rate(const Experiment& experiment, int threads);

}  // namespace lagtape
