#pragma once

#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// A step of h of the equations as a step program, in which all stages of the method are written out: a model runs it like any
/// other. The states after step n are those at t = (n + 1) h, and x[n] is the input in between, which is held. Each read has a
/// constant index and part of a step, so that products with past states are hoisted as those of other lags are.
///
/// `lags` are numbers, one for each read of the right side, at least h. No step is cut: a lag that is no whole number of
/// steps has the accuracy of `"breaks": "ignore"`. Throws InputError for an output that reads the past.
StepProgram step_of(const RightSide& side, const OdeSolver& solver, const std::vector<double>& lags);

}  // namespace lagtape
