#pragma once

#include <vector>

#include "lagtape/ops/delay/delay_grid.h"
#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

struct SearchRange {
  double from = 0, to = 0, step = 1;
};

/// The times within a range at which these values take another branch (`where`, `maximum`, `abs`, `floor`, ...)
/// that depends only on the time and weights: they move with the weights. Branches are compared at the ends of
/// steps, so a branch that starts and ends within a step is not found.
std::vector<Dual> switch_times(const DelayProblem& problem, const std::vector<int>& roots, int time,
                               const SearchRange& range);

}  // namespace lagtape
