#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/models/model_definition.h"
#include "lagtape/ops/recurrence/held_sequence.h"

namespace lagtape {

/// Layers without a read-out as one differentiable function, for programs with their own tape: parameters,
/// inputs and the window before the first step in, outputs of the top layer and the window after the last step
/// out. It holds no parameters. One call at a time, the outputs included, apart from their destruction.
class Recurrence {
 public:
  class Outputs;

  /// The layers and the precision of a definition, for inputs of `input` numbers. The outputs are those of
  /// every step, of the last step or their mean. Throws InputError, one line an error with its JSON Pointer;
  /// also for layers of whole sequences and tokens.
  Recurrence(const ModelDefinition& definition, std::int64_t input, ReadAt at,
             const SequenceSettings& settings = {});

  /// In the order of `forward`: layers.0.W1, layers.0.W1.bias, ...
  const std::vector<ParameterDefinition>& parameters() const { return parameters_; }
  /// Drawn from the seed as those of a model.
  std::vector<Tensor> first_values(std::uint64_t seed) const;

  const StackDefinition& stack() const { return held_.stack(); }
  Dtype dtype() const { return held_.dtype(); }
  bool has_draws() const;  ///< whether a step draws random numbers in training
  /// The costs of the plans for a batch, the fastest first, as HeldSequence::plans.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;

  /// Runs the forward half; the outputs hold the parameters' storage. `initial`: one tensor a state,
  /// shaped as in Window; empty: zeros. Throws InputError for wrong shapes and precisions, and when no plan
  /// fits the budget. `resets` as in HeldSequence.
  Outputs forward(std::span<const Tensor> parameters, SequenceBatch batch, ThreadPool& pool,
                  std::vector<Tensor> initial = {}, WantedGradients wanted = {},
                  std::vector<std::uint8_t> resets = {}) const;
  /// The outputs alone, and the final window; nothing is held for gradients.
  Tensor evaluate(std::span<const Tensor> parameters, const SequenceBatch& batch, ThreadPool& pool,
                  const std::vector<Tensor>& initial, Window& final_window,
                  std::span<const std::uint8_t> resets = {}) const;

  /// The derivative of this function in a direction, as a recurrence: of parameters and states, each followed by its
  /// direction, and of x with its own, [x, dx], to the outputs [y, dy] and the final window of both. Its gradients are
  /// second derivatives of this one. States on the grid become real numbers.
  Recurrence tangent() const;

 private:
  struct Fitted;
  Recurrence(Fitted fitted, const SequenceSettings& settings);
  std::vector<Var> record_weights(Tape& tape, std::span<const Tensor> values, std::vector<Var>& leaves) const;

  ModelDefinition definition_;
  std::vector<Layer> layers_;
  std::vector<ParameterDefinition> parameters_;
  HeldSequence held_;
  SequenceSettings settings_;
};

/// Results that wait for their gradients, as HeldOutputs. They may outlive the recurrence.
class Recurrence::Outputs {
 public:
  const Tensor& outputs() const { return sequence_.outputs(); }
  const Window& final_window() const { return sequence_.final_window(); }

  struct Gradients {
    std::vector<Tensor> parameters;  ///< one a parameter; empty where it is not trained, or none are wanted
    Tensor x;                        ///< empty where not wanted
    std::vector<Tensor> initial;     ///< likewise
  };
  /// As HeldOutputs::backward.
  Gradients backward(const Tensor& output_gradient, const std::vector<Tensor>& final_gradient = {});

 private:
  friend class Recurrence;
  Outputs(std::unique_ptr<Tape> tape, std::vector<Var> leaves, std::vector<Var> weights,
          HeldOutputs sequence);

  std::unique_ptr<Tape> tape_;  // from the parameters to the weights of the step
  std::vector<Var> leaves_, weights_;
  HeldOutputs sequence_;
};

}  // namespace lagtape
