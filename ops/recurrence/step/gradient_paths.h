#pragma once

#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The values that the gradient of a step's output reaches, over any number of steps.
struct GradientPaths {
  std::vector<std::string>
      lost;  ///< weights that it does not reach: all their paths lead through comparisons, floor or sign
  bool input = false;  ///< whether it reaches the input
};

/// `stop` counts as a path of the gradient, because it is intended.
GradientPaths gradient_paths(const StepProgram& program);

}  // namespace lagtape
