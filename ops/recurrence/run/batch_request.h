#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/resets.h"
#include "lagtape/ops/recurrence/step/stack.h"
#include "lagtape/ops/signal_loss.h"

namespace lagtape::recurrence {

/// The backward half of a batch: the gradients that it begins with, unless a loss gives them, and its results.
/// The caller allocates all results, as zeros; null: not wanted.
struct BackwardRequest {
  const Tensor* output_gradient = nullptr;  ///< shaped as the outputs; null: the loss's
  /// One a state, shaped as the final window; null: zeros. No state may be read through trained lags alone.
  const std::vector<Tensor>* final_gradient = nullptr;
  std::vector<Tensor>* weight_gradients = nullptr;  ///< one a weight; empty tensors where not wanted
  Tensor* x_gradient = nullptr;                     ///< [B, T, input]
  std::vector<Tensor>* initial_gradient = nullptr;  ///< shaped as the states of a window
  LargeProductFunction large_product = nullptr;     ///< as in SequenceSettings

  bool wanted() const {
    return weight_gradients != nullptr || x_gradient != nullptr || initial_gradient != nullptr;
  }
};

/// A batch to run: its inputs and its results, with those of the backward half where it has one.
struct BatchRequest {
  const SequenceBatch& batch;
  std::span<const Tensor> weights;  ///< layer by layer, then the read-out's
  ThreadPool& pool;
  const std::vector<Tensor>* initial = nullptr;  ///< the states of a window; null: zeros
  Window* final_window = nullptr;
  bool loss = false;          ///< whether the loss is wanted
  Tensor* outputs = nullptr;  ///< [B, T, q] at every step, else [B, q], or [P, q] of pieces
  /// [P], the pieces that run as rows, without a loss; empty: the rows of x, of the batch's lengths.
  std::span<const RowPiece> pieces = {};
  BackwardRequest backward = {};
};

/// A request with the data that all its slices look up, prepared once for the batch. Every slice reads and
/// writes its own rows of it.
struct PreparedRequest : BatchRequest {
  /// Lanes run in place of pieces.
  PreparedRequest(const BatchRequest& request, const StackDefinition& stack, Lanes rows_as_lanes = {});

  std::int64_t rows = 0;                ///< number of rows that run: B, or the number P of pieces
  Lanes lanes;                          ///< empty: rows and pieces have no gaps
  std::vector<std::int64_t> lengths;    ///< [rows], steps that count; empty: all steps of all rows
  std::vector<std::int64_t> sequences;  ///< [rows], names of the rows, for their draws
  std::vector<std::int64_t> places;     ///< [rows], of their first steps in [B, T]
  /// [rows], the rows of windows that they begin with and that they write in the end; -1: zeros, and none.
  std::vector<std::int64_t> begins, ends;
  /// 1 / (the number of everything that is scored); 0: no loss. esr and dc have their own factors instead.
  double loss_scale = 0;
  SignalFactors signal;
};

}  // namespace lagtape::recurrence
