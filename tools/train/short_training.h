#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

// Short training runs that write nothing. They throw as training does.

/// The time and memory of training, measured on its first updates.
struct DryRun {
  std::int64_t updates = 0, steps = 0;  ///< updates made, and in the whole run
  double loss = 0;                      ///< loss of the last update
  double seconds_per_update = 0;
  double seconds = 0;  ///< time for all updates of the run, without evaluations
  std::string plan;
  std::int64_t plan_bytes = 0;
};

/// Makes the first updates of a training run and discards them.
DryRun dry_run(const Experiment& experiment, int threads);

/// The losses of a training run whose learning rate grows with each update.
struct RateFinding {
  std::vector<double> rates, losses;  ///< by update; losses are running means
  double suggested = 0;               ///< a tenth of the rate with the smallest loss
};

/// Trains for up to 100 updates while the learning rate grows exponentially from 1e-6 to 1, and stops when the
/// loss has risen to four times its minimum or is not finite (the range test in Smith 2017, arXiv:1506.01186).
RateFinding find_rate(const Experiment& experiment, int threads);

}  // namespace lagtape
