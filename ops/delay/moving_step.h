#pragma once

#include "lagtape/ops/delay/ode_step.h"

namespace lagtape {

/// A step of the data, as a step program, for equations whose lags are trained or depend on the state, whose
/// inputs are linear between their times, or whose steps take their time from the input.  The step is cut into
/// `parts` even ones and, if lags are constant and `solver.cut`, once for each break that may lie in it: at a
/// sample or at 0, and from there along the lags, `levels` times. The cuts move with the lags, and so do the
/// widths of the steps, which may be 0. The program remembers the last steps of the method that the largest lag
/// may need, with the ages of their starts, and a read selects the step that contains its time. So the gradient
/// is exact for the discretization and has the same order.  A lag has a largest value (`steps.lags`) and is at
/// least a step of the method. If the input's time is out of bounds, it becomes NaN, and so do the states. With
/// linear inputs, x[n] is the input at the end of step n; at the start of the first step it is also x[0].
/// Throws InputError.
///
/// A step of the data, as a step program, for equations whose lags are trained or depend on the state, whose
/// inputs are linear between their times, or whose steps take their time from the input.  The step is cut into
/// `parts` even ones and, if lags are constant and `solver.cut`, once for each break that may lie in it: at a
/// sample or at 0, and from there along the lags, `levels` times. The cuts move with the lags, and so do the
/// widths of the steps, which may be 0. The program remembers the last steps of the method that the largest lag
/// may need, with the ages of their starts, and a read selects the step that contains its time. So the gradient
/// is exact for the discretization and has the same order.  A lag has a largest value (`steps.lags`) and is at
/// least a step of the method. If the input's time is out of bounds, it becomes NaN, and so do the states. With
/// linear inputs, x[n] is the input at the end of step n; at the start of the first step it is also x[0].
/// Throws InputError.
///
/// A step of the data, as a step program, for equations whose lags are trained or depend on the state, whose
/// inputs are linear between their times, or whose steps take their time from the input.  The step is cut into
/// `parts` even ones and, if lags are constant and `solver.cut`, once for each break that may lie in it: at a
/// sample or at 0, and from there along the lags, `levels` times. The cuts move with the lags, and so do the
/// widths of the steps, which may be 0. The program remembers the last steps of the method that the largest lag
/// may need, with the ages of their starts, and a read selects the step that contains its time. So the gradient
/// is exact for the discretization and has the same order.  A lag has a largest value (`steps.lags`) and is at
/// least a step of the method. If the input's time is out of bounds, it becomes NaN, and so do the states. With
/// linear inputs, x[n] is the input at the end of step n; at the start of the first step it is also x[0].
/// Throws InputError.
StepProgram moving_step_of(const RightSide& side, const ModelSteps& steps);

}  // namespace lagtape
