#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// A function of a step that is none of the element-wise ones, as an equation calls it: sum(S, 0).
struct StepFunction {
  std::string_view name;
  std::size_t least, most;  ///< arguments
  StepVar (*value)(std::span<const StepVar> arguments);
};

/// All of them, but those that take sizes or draw numbers.
std::span<const StepFunction> step_functions();

/// The function of that name, or null.
const StepFunction* step_function_named(std::string_view name);

}  // namespace lagtape
