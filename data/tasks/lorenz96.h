#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lagtape/data/task.h"

namespace lagtape {

constexpr std::size_t kLorenz96Variables = 5;

/// Lorenz 1996, five variables on a ring: x_j' = (x_{j+1} - x_{j-2}) x_{j-1} - x_j + F at t = 0, 0.01, ...,
/// by the classic Runge-Kutta method: [points, 5]. Chaotic at F = 8, nearly periodic at 0.9.
std::vector<double> lorenz96(const std::array<double, kLorenz96Variables>& start, double F,
                             std::int64_t points);

}  // namespace lagtape
