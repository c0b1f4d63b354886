#pragma once

#include <vector>

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The Mackey-Glass equation, chaotic at a delay of 17:
///   x'(t) = 0.2 x(t - 17) / (1 + x(t - 17)^10) - 0.1 x(t),   x(t) = start for t <= 0
/// at t = 0, 0.25, ..., steps / 4. Source: Mackey and Glass 1977; the protocol is that of the tau-GRU paper.
std::vector<double> mackey_glass_series(double start, std::int64_t steps);

/// Next-step prediction of x from t = 500 on, x(0) ~ U(0, 1).
TaskPlan read_mackey_glass(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
