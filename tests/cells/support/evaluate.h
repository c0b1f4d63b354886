#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

using Vector = std::vector<double>;

/// The outputs [T][width] of a program over a sequence [T][input] from zero states, computed value by value
/// as the operations are defined: slow, and plain enough to be trusted. Weights are given by name, row-major.
/// Random draws have the values that they have in evaluation.
std::vector<Vector> evaluate(const StepProgram& program,
                             const std::function<Vector(const std::string&)>& weight,
                             const std::vector<Vector>& x);

}  // namespace lagtape
