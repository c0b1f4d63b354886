#pragma once

#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// Chooses the rows to prefetch into the cache before a loop step reads or writes them: arrays of the whole
/// sequence have left it by then. A large product of the loop prefetches while it multiplies
/// (ProductStage::prefetched); in a backward loop without one, the element-wise work prefetches one step ahead
/// (ElementStage::prefetches_before).
void plan_prefetches(LayerSchedule& schedule);

}  // namespace lagtape::recurrence
