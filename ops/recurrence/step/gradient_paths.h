#pragma once

#include <string>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

inline constexpr char kEndOfPlace = '#';  // a name that no equation can have

/// What the gradient of a step's output reaches, over any number of steps.
struct GradientPaths {
  std::vector<std::string>
      lost;  ///< weights that it does not reach: all their paths go through comparisons, floor, or sign
  bool input = false;  ///< whether it reaches the input
  /// Places in the text of the step, such as "/step/1, column 8", at which the gradient of lost weights, or of
  /// a lost input, ends.
  std::vector<std::string> ends;
};

/// Whether an operation passes a gradient to any of its operands.
bool passes_gradient(const Instruction& v);

/// The name (NamedValue) of a value that passes no gradient on, by its place in the step's text. Analysis
/// cannot request it.
inline std::string name_of_end(const std::string& place, int value) {
  return place + kEndOfPlace + std::to_string(value);
}
inline bool names_end(const std::string& name) { return name.find(kEndOfPlace) != std::string::npos; }

/// `stop` counts as a path of the gradient, since it is intentional.
GradientPaths gradient_paths(const StepProgram& program);

}  // namespace lagtape
