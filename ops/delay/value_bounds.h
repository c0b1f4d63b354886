#pragma once

#include <vector>

#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The bounds of a value, computed from those of the weights, if they are known: infinite, or NaN for a lower
/// bound that a weight leaves open.
Bounds bounds_of(const StepProgram& program, int value, const std::vector<Bounds>& weights);

}  // namespace lagtape
