#pragma once

#include <array>
#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// The slope at each reading: that of the parabola through it and its neighbors, at the ends through the three nearest.
std::vector<double> slopes_of(const ObservedHistory& readings);

/// The value at a time and its first two derivatives.
std::array<double, 3> read_history(const ObservedHistory& readings, const std::vector<double>& slopes,
                                   double t);

}  // namespace lagtape
