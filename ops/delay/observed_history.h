#pragma once

#include <array>
#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// The slope at each reading: that of the parabola through it and its neighbors, or at the ends through the
/// nearest three.
std::vector<double> slopes_of(const ObservedHistory& readings);

/// The value at a time and its first two derivatives.
std::array<double, 3> read_history(const ObservedHistory& readings, const std::vector<double>& slopes,
                                   double t);

}  // namespace lagtape
