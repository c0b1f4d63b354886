#pragma once

#include <vector>

#include "lagtape/data/generators/delay_equation.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// A scalar delay equation x' = f(x(t), x(t - delay * step)) and the part of its solution that a task
/// uses.
struct DelaySeries {
  double (*slope)(double x, double delayed);
  double step;
  std::int64_t delay;      ///< in steps
  std::int64_t transient;  ///< steps dropped from the start
};

/// The solution at 0, step, ..., steps * step from x(t) = start for t <= 0.
std::vector<double> delay_series(const DelaySeries& equation, double start, std::int64_t steps,
                                 HalfStep half_step = HalfStep::linear);

/// Next-step prediction; each sequence has a start value ~ U(0, 1). Options: half_step, and those in
/// read_generated_series.
TaskLoader read_delay_series(JsonReader& reader, const DelaySeries& equation);

}  // namespace lagtape
