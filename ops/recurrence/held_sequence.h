#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// Gradients by everything that outputs depend on; empty: not wanted.
struct SequenceGradients {
  std::vector<Tensor> weights;
  Tensor x;                     ///< [B, T, input]
  std::vector<Tensor> initial;  ///< one a state, shaped as in Window
};

/// The wanted gradients.
struct WantedGradients {
  bool weights = true, x = false, initial = false;
};

/// The results of a stack, which wait for their gradients. Between the two halves they hold the values that the memory
/// plan keeps. They may outlive their HeldSequence.
class HeldOutputs {
 public:
  HeldOutputs(HeldOutputs&&) noexcept;
  HeldOutputs& operator=(HeldOutputs&&) noexcept;
  ~HeldOutputs();

  const Tensor& outputs() const;       ///< [B, T, q] at every step, else [B, q]
  const Window& final_window() const;  ///< after each row's own last step

  /// Runs the backward half from dL/d(outputs) and dL/d(final window), shaped as those; an empty tensor, or no tensors
  /// at all, mean zeros. A second call runs forward again first. Throws InputError for other shapes, and for a final
  /// window with a state that steps read only through a trained lag.
  SequenceGradients backward(const Tensor& output_gradient, const std::vector<Tensor>& final_gradient = {});

 private:
  friend class HeldSequence;
  struct Implementation;
  explicit HeldOutputs(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// A stack over time, as SequenceOp, for tapes of others, where the gradient of the outputs comes from outside.
/// SequenceOp::outputs runs the slices of a batch one after another, and forward again in its backward pass; here the
/// plan's values are held for the whole batch, and nothing runs twice. One call at a time, calls of its outputs
/// included, except for their destruction.
class HeldSequence {
 public:
  /// Throws InputError as SequenceOp does.
  HeldSequence(StackDefinition stack, Dtype dtype, SequenceSettings settings = {});

  const StackDefinition& stack() const;
  Dtype dtype() const;

  /// Runs the forward half. `initial` holds one tensor a state; empty: zeros. The gradient by x must be
  /// announced here. The pool must live as long as the outputs. `resets` [B, T]: other than 0
  /// where the states of a row are zeros again before that step; the index of steps and their draws begin again there too. The
  /// final window has zeros for states from before a reset. Throws InputError as SequenceOp does, and when no plan fits the
  /// budget.
  HeldOutputs forward(std::vector<Tensor> weights, SequenceBatch batch, ThreadPool& pool,
                      std::vector<Tensor> initial = {}, WantedGradients wanted = {},
                      std::vector<std::uint8_t> resets = {}) const;
  /// The outputs and the final window alone; only windows are kept.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const std::vector<Tensor>& initial, Window& final_window,
                  std::span<const std::uint8_t> resets = {}) const;

  /// The costs of the plans for all slices of a batch at a time, the fastest first.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;

 private:
  friend class HeldOutputs;
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lagtape
