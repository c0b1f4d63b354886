#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// The steps of equations in a model.
struct ModelSteps {
  OdeSolver solver;               ///< with `dt`, the time of a step of the data
  std::int64_t input = 1;         ///< width of the layer's input
  std::int64_t parts = 1;         ///< steps of the method in one of the data
  std::vector<Bounds> lags = {};  ///< place of each read of the right side
};

/// A step of the data, with all steps and stages of the method written out, as a step program: a model runs it like any other.
/// The states after step n are those at t = (n + 1) dt, and x[n] is the input in between, which is held. Each read has a
/// constant index and part of a step, so that products with past states are hoisted as those of other lags are.
///
/// Lags are numbers (low == high), at least a step. No step is cut: a lag that is not a whole number of steps has the
/// accuracy of `"breaks": "ignore"`. Throws InputError for an output that reads the past.
StepProgram step_of(const RightSide& side, const ModelSteps& steps);

}  // namespace lagtape
