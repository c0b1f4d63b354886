#pragma once

#include <array>
#include <vector>

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

constexpr std::size_t kLorenz96Places = 5;

/// Lorenz 1996, five places on a ring: x_j' = (x_{j+1} - x_{j-2}) x_{j-1} - x_j + F at t = 0, 0.01, ..., by
/// the classic Runge-Kutta method: [points, 5]. Chaotic at F = 8, nearly periodic at 0.9.
std::vector<double> lorenz96(const std::array<double, kLorenz96Places>& start, double F, std::int64_t points);

/// Prediction of all five places `horizon` (25) steps ahead, x(0) uniform in F - 1/2..F + 1/2. The protocol
/// is that of the coRNN paper, used by UnICORNN's: 2000 points, so 1975 steps.
TaskLoader read_lorenz96(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
