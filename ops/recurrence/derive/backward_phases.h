#pragma once

#include <cstddef>
#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// The backward ops of a step, not yet assigned to a moment.
struct BackwardOps {
  const Ops& ops;                 ///< in order
  const std::vector<int>& sinks;  ///< all values that end in arrays
  const std::vector<int>& step;   ///< the sinks that the previous step waits for
  const std::vector<int>& lags;   ///< the sinks that are adjoints of lagged reads
};

/// Puts each op that leads to a sink or a gradient into the `layer.backward` list for the moment at which it
/// runs, as far out of the steps as possible. Values numbered `forward_count` and up belong to these ops.
void assign_moments(LayerOps& layer, const BackwardOps& backward, std::size_t forward_count);

}  // namespace lagtape::recurrence
