#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// Gradients with respect to everything that the outputs depend on; empty if not wanted.
struct SequenceGradients {
  std::vector<Tensor> weights;
  Tensor x;                     ///< [B, T, input]
  std::vector<Tensor> initial;  ///< one per state, shaped as in Window
};

/// Which gradients are wanted.
struct WantedGradients {
  bool weights = true, x = false, initial = false;
};

/// The results of a stack, awaiting their gradients. Between the two halves they hold the values that the
/// memory plan keeps. They may outlive their HeldSequence.
class HeldOutputs {
 public:
  HeldOutputs(HeldOutputs&&) noexcept;
  HeldOutputs& operator=(HeldOutputs&&) noexcept;
  ~HeldOutputs();

  const Tensor& outputs() const;       ///< [B, T, q] at every step, else [B, q]
  const Window& final_window() const;  ///< after each row's own last step

  /// Runs the backward half from dL/d(outputs) and dL/d(final window), which have the same shapes; an empty
  /// tensor, or no tensors at all, means zeros. A second call reruns the forward half first. Throws InputError
  /// for other shapes, and for a final window with a state that steps read only through a trained lag.
  SequenceGradients backward(const Tensor& output_gradient, const std::vector<Tensor>& final_gradient = {});

 private:
  friend class HeldSequence;
  struct Implementation;
  explicit HeldOutputs(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// A stack over time, like SequenceOp, for external tapes, which supply the gradient of the outputs.
/// SequenceOp::outputs runs the slices of a batch one after another, and reruns them forward in its backward
/// pass; here the plan's values are held for the whole batch, and nothing runs twice. Only one call may run at
/// a time, including calls of its outputs but not their destruction.
class HeldSequence {
 public:
  /// Throws InputError as SequenceOp does.
  HeldSequence(StackDefinition stack, Dtype dtype, SequenceSettings settings = {});

  const StackDefinition& stack() const;
  Dtype dtype() const;

  /// Runs the forward half. `initial` holds one tensor per state; empty: zeros. Whether the gradient with
  /// respect to x is wanted must be stated here. The pool must live as long as the outputs. `resets` [B, T]:
  /// nonzero where a row's states are reset to zeros before that step; its step index and draws restart there
  /// too. The final window has zeros for states from before a reset. Throws InputError as SequenceOp does, and
  /// if no plan fits the budget.
  HeldOutputs forward(std::vector<Tensor> weights, SequenceBatch batch, ThreadPool& pool,
                      std::vector<Tensor> initial = {}, WantedGradients wanted = {},
                      std::vector<std::uint8_t> resets = {}) const;
  /// Only the outputs and the final window; only windows are kept.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const std::vector<Tensor>& initial, Window& final_window,
                  std::span<const std::uint8_t> resets = {}) const;

  /// The costs of the plans when all slices of a batch are held at once, fastest first.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;

 private:
  friend class HeldOutputs;
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lagtape
