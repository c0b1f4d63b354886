#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A loop over the elements of values of one width; element i of each is computed before element i + 1 of any.
struct CLoop {
  std::int64_t width = 1;
  std::vector<int> values;  ///< in order of computation
};

/// A step as loops that run one after another. A product, a sum and the like need whole vectors, so they start
/// a later loop than their operands; element-wise work stays in the loop of its operands.
struct CLoops {
  std::vector<CLoop> loops;
  std::vector<bool>
      is_array;  ///< by value: whether it is read outside of its loop, also as a state's next value or the output
  std::vector<int> uses;  ///< by value: how often values in loops read it
};

/// The loops of a step in which the values marked in `given` (the input, states, lags and fixed values) are
/// available before it starts.
CLoops loops_of(const StepProgram& program, const std::vector<bool>& given);

}  // namespace lagtape
