#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/analysis/layer_over_time.h"

namespace lagtape {

std::int64_t state_width(const StepProgram& program);

/// The last steps of one sequence, and the model's state before them.
struct SequencePart {
  SequenceBatch batch;          ///< x [1, S, input], with the targets of these steps
  std::int64_t length = 0;      ///< length of the whole sequence
  std::vector<Tensor> windows;  ///< windows before the first of these steps, layer by layer
  Tensor sum_before;  ///< sum of the top layer's earlier outputs, [1, width]; empty if there are none
};

/// The results for one sequence, by lag.
struct SequenceFindings {
  struct Layer {
    std::vector<std::vector<double>> norm, largest, gradient, last_step_gradient;  ///< [state][lag]
    std::vector<double> frobenius, spectral, row_sum;
    std::vector<std::vector<double>> values;  ///< [named value], step by step
  };
  std::vector<Layer> layers;
};

/// A model's sequence op in evaluation. Throws InputError for a model that needs whole sequences.
const StackDefinition& evaluated_stack(const Model& model);

/// Analyzes a model on single sequences in f64. Several threads may use it at once, except for `last_steps`.
class SequenceAnalyzer {
 public:
  SequenceAnalyzer(const Model& model, std::vector<std::vector<NamedValue>> values,
                   const AnalysisOptions& options);

  /// The model's stack in evaluation, without rounding states to the grid.
  const StackDefinition& stack() const { return stack_; }
  /// The number of the model's layers below the stack: 1 for an embedding.
  std::size_t layers_below() const { return table_ ? 1 : 0; }
  const std::vector<NamedValue>& values(std::size_t layer) const { return values_[layer]; }
  /// The weights of a layer's step.
  std::vector<Tensor> weights(std::size_t layer) const;
  bool is_exact(std::size_t layer) const;
  /// The number of rows of a layer's state Jacobian that are propagated backward.
  std::int64_t rows(std::size_t layer) const;

  /// Runs a sequence, a batch of one, up to the steps to analyze.
  SequencePart last_steps(const SequenceBatch& sequence, ThreadPool& pool) const;
  SequenceFindings look_into(const SequencePart& part) const;

 private:
  LayerOverTime layer_over_time(std::size_t layer, const Tensor& x, const SequencePart& part) const;
  Tensor run_layer(std::size_t layer, LayerOverTime& over_time, SequenceFindings::Layer& found) const;
  Tensor loss_derivative(const Tensor& top, const SequencePart& part, bool last_step_alone) const;
  void follow_jacobian(std::size_t layer, LayerOverTime& over_time, std::int64_t sequence,
                       SequenceFindings::Layer& found) const;

  /// The sequence with rows of the embedding's table instead of tokens.
  SequenceBatch embedded(const SequenceBatch& sequence, ThreadPool& pool) const;

  StackDefinition stack_;
  Window start_;  ///< the states before the first step, in f64; empty: zeros
  std::vector<Tensor> weights_;
  std::optional<Tensor> table_;  ///< [tokens, input]
  std::vector<std::vector<NamedValue>> values_;
  AnalysisOptions options_;
};

}  // namespace lagtape
