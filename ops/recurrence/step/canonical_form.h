#pragma once

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The program with values, weights, and draws numbered in the order in which the next values and the output
/// first need them: depth first, operand a before operand b. Unneeded values are omitted.
StepProgram canonical_form(const StepProgram& program);

}  // namespace lagtape
