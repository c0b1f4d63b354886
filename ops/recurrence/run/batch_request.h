#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/stack.h"
#include "lagtape/ops/signal_loss.h"

namespace lagtape::recurrence {

/// The backward half of a batch: the gradients that it starts from, unless a loss supplies them, and its
/// results. The caller allocates all results, as zeros; null: not wanted.
struct BackwardRequest {
  const Tensor* output_gradient = nullptr;  ///< shaped as the outputs; null: taken from the loss
  /// One per state, shaped as the final window; null: zeros. No state may be read only through trained lags.
  const std::vector<Tensor>* final_gradient = nullptr;
  std::vector<Tensor>* weight_gradients = nullptr;  ///< one per weight; empty tensors where not wanted
  Tensor* x_gradient = nullptr;                     ///< [B, T, input]
  std::vector<Tensor>* initial_gradient = nullptr;  ///< shaped as the states of a window
  LargeProductFunction large_product = nullptr;     ///< as in SequenceSettings

  bool wanted() const {
    return weight_gradients != nullptr || x_gradient != nullptr || initial_gradient != nullptr;
  }
};

/// A batch to run: its inputs and results, including those of the backward half if it has one.
struct BatchRequest {
  const SequenceBatch& batch;
  std::span<const Tensor> weights;  ///< layer by layer, then the read-out's
  ThreadPool& pool;
  const std::vector<Tensor>* initial = nullptr;  ///< the states of a window; null: zeros
  Window* final_window = nullptr;
  bool loss = false;          ///< whether the loss is wanted
  Tensor* outputs = nullptr;  ///< [B, T, q] at every step, else [B, q]
  /// [B, T]: nonzero where a row's states are reset to zeros before that step; its step index and draws restart
  /// there too. Empty: no resets.
  std::span<const std::uint8_t> resets = {};
  BackwardRequest backward = {};
};

/// A request with the data that all of its slices need, prepared once per batch. Every slice reads and writes
/// its own rows.
struct PreparedRequest : BatchRequest {
  PreparedRequest(const BatchRequest& request, const StackDefinition& stack);

  std::vector<std::int64_t> lengths;    ///< [B], steps that count; empty: all steps of all rows
  std::vector<std::int64_t> sequences;  ///< [B], names of the rows, for their draws
  /// 1 / (the number of scored values); 0: no loss. esr and dc have their own factors instead.
  double loss_scale = 0;
  SignalFactors signal;
};

}  // namespace lagtape::recurrence
