#pragma once

#include <string>

#include "lagtape/core/json/options.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The names of the functions that a user of some cells can choose from.
inline constexpr Choices kActivations = {"tanh", "sigmoid", "relu"};
/// One of them, by name.
StepVar activate(const std::string& name, StepVar a);

}  // namespace lagtape
