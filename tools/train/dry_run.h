#pragma once

#include "lagtape/tools/train/initial_weights.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

/// What a training would take, found by its first updates.
struct DryRun {
  std::int64_t updates = 0, steps = 0;  ///< updates made, and those of the whole run
  double loss = 0;                      ///< of the last update
  double seconds_per_update = 0;
  double seconds = 0;  ///< of all updates of the run, without evaluations
  std::string plan;
  std::int64_t plan_bytes = 0;
};

/// Makes the first updates of a training and forgets them: nothing is written. Throws as a training does.
DryRun dry_run(const Experiment& experiment, int threads);

}  // namespace lagtape
