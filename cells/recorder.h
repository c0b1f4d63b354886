#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/cell.h"
#include "lagtape/ops/recurrence/step_tape.h"

namespace lagtape {

/// More than memory holds, and few enough for the sizes of all weights to be numbers.
inline constexpr std::int64_t kLargestUnits = 65536;

/// Records the step of a layer whose weights are its parameters, and declares them as it goes, in the order
/// of the calls: what most cells are built with.
class LayerRecorder {
 public:
  /// Every parameter starts from the initializer.
  LayerRecorder(std::int64_t input, const Initializer& initializer);

  StepTape& tape() { return tape_; }
  StepVar input() { return tape_.input(); }
  StepVar state(const std::string& name, std::int64_t units) {
    return tape_.state(name, RowShape::vector(units));
  }

  // New parameters: a vector [size], a scalar [], a matrix [units, width of v] and its product with v.
  StepVar vector(const std::string& name, std::int64_t size);
  StepVar scalar(const std::string& name);
  StepVar linear(const std::string& name, std::int64_t units, StepVar v);
  /// W @ v + W.bias, with new parameters W [units, width of v] and W.bias [units].
  StepVar affine(const std::string& name, std::int64_t units, StepVar v);

  /// Another start than the recorder's own, for one parameter or for all that end in ".bias".
  void start(const std::string& name, const Initializer& initializer, const std::string& draws_of = "");
  void start_biases(const Initializer& initializer);

  /// The layer with that output. Further recording is not possible.
  Layer finish(StepVar output);

 private:
  void declare(const std::string& name, Shape shape);

  StepTape tape_;
  Initializer initializer_;
  std::vector<ParameterDefinition> parameters_;
};

}  // namespace lagtape
