#pragma once

#include "lagtape/ops/delay/ode_step.h"

namespace lagtape {

/// A step of the data of equations whose lags are trained or depend on the state, whose inputs are lines between their
/// times, or whose steps have a time from the input, as a step program.
///
/// The step is cut into `parts` even ones and, where lags are constant and `solver.cut`, once for each break that may lie in
/// it: at a sample or at 0, and from there along the lags, `levels` times. The cuts move with the lags and so do the widths of
/// the steps, which may be 0. The program remembers the last steps of the method that the largest lag may need, with
/// the ages of their starts, and a read chooses the step that contains its time. So the gradient is exact for the
/// discretization and has its order.
///
/// A lag has a largest value (`steps.lags`) and is at least a step of the method. Time given by the input is NaN outside of
/// its bounds, and so are the states. With lines, x[n] is the input at the end of step n; at the begin of the first it is
/// x[0], too. Throws InputError.
StepProgram moving_step_of(const RightSide& side, const ModelSteps& steps);

}  // namespace lagtape
