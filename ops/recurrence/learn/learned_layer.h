#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A parameter as a learner updates it.
struct LearnedWeight {
  std::string name;  ///< its name in the step, or in the program that derives the step's weights
  Tensor value;
  bool trainable = true;
  Bounds bounds = {};
};

/// A layer of a stack that learns while it streams, or its read-out.
struct LearnedLayer {
  StepProgram program;
  /// A program whose states' next values are the step's weights of the same names, as functions of the
  /// parameters; none if each weight is a parameter.
  std::optional<StepProgram> derived;
  std::vector<LearnedWeight> weights;
};

}  // namespace lagtape
