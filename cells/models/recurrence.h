#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/models/model_definition.h"
#include "lagtape/ops/recurrence/held_sequence.h"

namespace lagtape {

/// Layers without a read-out as one differentiable function, for programs with their own tape: from parameters,
/// inputs and the initial window to the top layer's outputs and the final window. It holds no parameters. One
/// call at a time, including calls to the outputs, except for their destruction.
class Recurrence {
 public:
  class Outputs;

  /// The layers and the precision of a definition, for inputs of `input` numbers. The outputs are those of
  /// every step, of the last step, or their mean. Throws InputError, one line per error with its JSON Pointer,
  /// including for whole-sequence layers and tokens.
  Recurrence(const ModelDefinition& definition, std::int64_t input, ReadAt at,
             const SequenceSettings& settings = {});

  /// In the order of `forward`: layers.0.W1, layers.0.W1.bias, ...
  const std::vector<ParameterDefinition>& parameters() const { return parameters_; }
  /// Drawn from the seed, like a model's.
  std::vector<Tensor> first_values(std::uint64_t seed) const;

  const StackDefinition& stack() const { return held_.stack(); }
  Dtype dtype() const { return held_.dtype(); }
  bool has_draws() const;  ///< whether a step draws random numbers during training
  /// The costs of the plans for a batch, the fastest first, like HeldSequence::plans.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;

  /// Runs the forward half; the outputs hold the parameters' storage. `initial`: one tensor per state, shaped
  /// as in Window; empty: zeros. Throws InputError for wrong shapes and precisions, and if no plan fits the
  /// budget. `resets` as in HeldSequence.
  Outputs forward(std::span<const Tensor> parameters, SequenceBatch batch, ThreadPool& pool,
                  std::vector<Tensor> initial = {}, WantedGradients wanted = {},
                  std::vector<std::uint8_t> resets = {}) const;
  /// Only the outputs and the final window; nothing is held for gradients.
  Tensor evaluate(std::span<const Tensor> parameters, const SequenceBatch& batch, ThreadPool& pool,
                  const std::vector<Tensor>& initial, Window& final_window,
                  std::span<const std::uint8_t> resets = {}) const;

  /// The directional derivative of this function, as a recurrence: from parameters and states, each followed by
  /// its direction, and from x with its own, [x, dx], to the outputs [y, dy] and the final window of both. Its
  /// gradients are second derivatives of this function. States on the grid become real numbers.
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

/// Results that wait for their gradients, like HeldOutputs. They may outlive the recurrence.
class Recurrence::Outputs {
 public:
  const Tensor& outputs() const { return sequence_.outputs(); }
  const Window& final_window() const { return sequence_.final_window(); }

  struct Gradients {
    std::vector<Tensor> parameters;  ///< one per parameter; empty if it is not trained, or none are wanted
    Tensor x;                        ///< empty if not wanted
    std::vector<Tensor> initial;     ///< likewise
  };
  /// Like HeldOutputs::backward.
  Gradients backward(const Tensor& output_gradient, const std::vector<Tensor>& final_gradient = {});

 private:
  friend class Recurrence;
  Outputs(std::unique_ptr<Tape> tape, std::vector<Var> leaves, std::vector<Var> weights,
          HeldOutputs sequence);

  std::unique_ptr<Tape> tape_;  // from the parameters to the step's weights
  std::vector<Var> leaves_, weights_;
  HeldOutputs sequence_;
};

}  // namespace lagtape
