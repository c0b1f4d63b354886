#pragma once

#include <vector>

#include "lagtape/data/generators/delay_equation.h"
#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A scalar equation x' = f(x(t), x(t - delay * step)) as a task.
struct DelaySeries {
  double (*slope)(double x, double delayed);
  double step;
  std::int64_t delay;      ///< in steps
  std::int64_t transient;  ///< steps left out before the kept ones
};

/// x at 0, step, ..., steps * step from x(t) = start for t <= 0.
std::vector<double> delay_series(const DelaySeries& equation, double start, std::int64_t steps,
                                 HalfStep half_step = HalfStep::linear);

/// Next-step prediction from start values U(0, 1), one a sequence. Options: half_step, and those of
/// read_generated_series.
TaskLoader read_delay_series(JsonReader& reader, const DelaySeries& equation);

}  // namespace lagtape
