#pragma once

#include <cstdint>

#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// Derives the ops of a layer from its step program and puts them in order: products are stacked,
/// element-wise work is fused into stages, every value has its place. `lane` is the padding of rows (kLane of
/// the scalar).
LayerSchedule schedule_layer(const StepProgram& program, bool input_gradient, std::int64_t lane,
                             ProductFormat saved = ProductFormat::scalar);

}  // namespace lagtape::recurrence
