#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/build/initializer.h"
#include "lagtape/cells/build/sequence_layer.h"
#include "lagtape/core/parameter.h"
#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/equations/derived_weight.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A parameter of a layer before it has a value, named as in the papers: W1, U1, W1.bias.
struct ParameterDefinition {
  std::string name;
  Shape shape;
  Initializer initializer;
  /// The parameter whose initial random numbers this one shares, for values that belong together; empty: it has
  /// its own.
  std::string draws_of = {};
  Bounds bounds = {};
  std::string unit = {};  ///< the unit of the values, for display only
  bool trainable = true;  ///< false: a statistic or a constant, which no gradient changes
  std::int64_t zero_row =
      -1;  ///< the row of a matrix that starts as zeros, whatever the initializer; -1: none
};

/// A layer: the program of its step, its parameters, and the functions that compute the step's weights from
/// them. A whole-sequence layer has no step.
struct Layer {
  StepProgram program;
  std::vector<ParameterDefinition> parameters;
  /// The step's weights (in the order of program.weights) as functions of the parameters (in the order above),
  /// on the outer tape, once per batch. Empty: each weight is the parameter of the same name.
  std::function<std::vector<Var>(std::span<const Var> parameters)> weights = {};
  /// Makes a program in which the step's weights that are functions of vector parameters become next values of
  /// its states. A learner needs it because its parameters change at every step. Empty: there are none.
  std::function<StepProgram()> derived_step = {};
  std::shared_ptr<const SequenceLayer> whole = {};  ///< the whole-sequence layer, instead of a step

  RowShape output() const;
  std::int64_t parameter_count() const;  ///< number of trained numbers
  std::size_t weight_count() const;      ///< number of tensors of `step_weights`
  /// The step's weights, in the order of program.weights, computed from the parameters' values.
  std::vector<Var> step_weights(std::span<const Var> values) const;
};

/// Makes `Layer::weights` for a program whose weights are parameters or derived from them. Throws Error for a
/// weight that is neither.
std::function<std::vector<Var>(std::span<const Var>)> weights_with(
    const StepProgram& program, const std::vector<ParameterDefinition>& parameters,
    const std::vector<DerivedWeight>& derived);

}  // namespace lagtape
