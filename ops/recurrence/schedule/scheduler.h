#pragma once

#include <cstdint>

#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// Derives the ops of a layer from its step program and schedules them: products are stacked, element-wise work
/// is fused into stages, and every value is assigned a location. `lane` is the row padding (kLane of the
/// scalar).
LayerSchedule schedule_layer(const StepProgram& program, bool input_gradient, std::int64_t lane,
                             ProductFormat saved = ProductFormat::scalar);

}  // namespace lagtape::recurrence
