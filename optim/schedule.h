#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lagtape {

/// Where a run stands when an update is made, all counted from 0.
struct Progress {
  std::int64_t epoch = 0;  ///< epochs that are complete
  std::int64_t step = 0;   ///< updates already made in the whole run
  std::int64_t steps = 1;  ///< updates of the whole run
};

/// What the optimizer's rate is multiplied by: a pure function of the progress, so a resumed run needs no
/// state.
using Schedule = std::function<double(const Progress&)>;

/// 1 throughout.
Schedule constant_schedule();

/// factor^k, k the number of `epochs` that are complete plus the number of `steps` that are done.
Schedule step_schedule(std::vector<std::int64_t> epochs, std::vector<std::int64_t> steps, double factor);

/// From 1 down to `floor` along half a cosine: floor + (1 - floor) (1 + cos(pi step / steps)) / 2.
Schedule cosine_schedule(double floor);

/// The schedule times min(1, (step + 1) / warmup): the first `warmup` updates grow in a straight line.
Schedule with_warmup(Schedule schedule, std::int64_t warmup);

}  // namespace lagtape
