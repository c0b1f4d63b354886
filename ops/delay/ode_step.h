#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// The steps of equations in a model.
struct ModelSteps {
  OdeSolver solver;               ///< with `dt`, the time of a data step
  std::int64_t input = 1;         ///< width of the layer's input
  std::int64_t parts = 1;         ///< steps of the method per data step
  std::vector<Bounds> lags = {};  ///< place of each read of the right-hand side
};

/// A data step, with all steps and stages of the method written out, as a step program: a model runs it like
/// any other. The states after step n are those at t = (n + 1) dt, and x[n] is the input in between, which is
/// held constant. Each read has a constant index and fraction of a step, so products with past states are
/// hoisted like those of other lags.  Lags are constants (low == high), at least a step. No step is cut: a lag
/// that is not a whole number of steps has the accuracy of `"breaks": "ignore"`. Throws InputError for an
/// output that reads the past.
///
/// A data step, with all steps and stages of the method written out, as a step program: a model runs it like
/// any other. The states after step n are those at t = (n + 1) dt, and x[n] is the input in between, which is
/// held constant. Each read has a constant index and fraction of a step, so products with past states are
/// hoisted like those of other lags.  Lags are constants (low == high), at least a step. No step is cut: a lag
/// that is not a whole number of steps has the accuracy of `"breaks": "ignore"`. Throws InputError for an
/// output that reads the past.
StepProgram step_of(const RightSide& side, const ModelSteps& steps);

}  // namespace lagtape
