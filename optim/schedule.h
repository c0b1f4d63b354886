#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lagtape {

/// The progress of a run at an update; all counts start at 0.
struct Progress {
  std::int64_t epoch = 0;  ///< completed epochs
  std::int64_t step = 0;   ///< updates already made in the whole run
  std::int64_t steps = 1;  ///< updates of the whole run
  std::int64_t plateaus =
      0;  ///< number of plateaus: how often the validation had stopped improving, as the trainer counts
};

/// The factor of the optimizer's learning rate: a pure function of the progress, so that a resumed run needs
/// no state.
using Schedule = std::function<double(const Progress&)>;

/// A schedule whose options have been read.
struct SchedulePlan {
  Schedule factor;
  std::int64_t patience = 0;  ///< evaluations without a new best that count as a plateau; 0: none
};

/// The factor 1 throughout.
Schedule constant_schedule();

/// factor^k, where k is how many of the `epochs` are complete plus how many of the `steps` are done.
Schedule step_schedule(std::vector<std::int64_t> epochs, std::vector<std::int64_t> steps, double factor);

/// factor^plateaus, but not below `floor`.
Schedule plateau_schedule(double factor, double floor);

/// A decay from 1 to `floor` along half a cosine: floor + (1 - floor) (1 + cos(pi step / steps)) / 2.
Schedule cosine_schedule(double floor);

/// The schedule times min(1, (step + 1) / warmup): the rate grows linearly over the first `warmup` updates.
Schedule with_warmup(Schedule schedule, std::int64_t warmup);

/// Whether runs with these two numbers of updates have different learning rates at the same step.
bool depends_on_length(const Schedule& schedule, std::int64_t one, std::int64_t other);

}  // namespace lagtape
