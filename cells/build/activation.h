#pragma once

#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The names of the functions that some cells let their user choose from: tanh, sigmoid, relu.
const std::vector<std::string>& activations();
/// One of them, by its name.
StepVar activate(const std::string& name, StepVar a);

}  // namespace lagtape
