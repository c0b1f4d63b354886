#pragma once

#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The functions that a cell may leave to its user: tanh, sigmoid, relu.
const std::vector<std::string>& activations();
StepVar activate(const std::string& name, StepVar a);

}  // namespace lagtape
