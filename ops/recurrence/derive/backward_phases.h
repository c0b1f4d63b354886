#pragma once

#include <cstddef>
#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// The adjoint of a step, before it is known when each op runs.
struct BackwardOps {
  const Ops& ops;                 ///< in order
  const std::vector<int>& sinks;  ///< values that end in arrays: all, and of them
  const std::vector<int>& loop;   ///< those that the step before waits for
  const std::vector<int>& lags;   ///< adjoints of lagged reads
};

/// Puts each op that leads to a sink or to a gradient into the phase in which it runs: as far out of the loop
/// as that can be. Values from number `forward_count` on are the ops' own.
void assign_phases(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count);

}  // namespace lagtape::recurrence
