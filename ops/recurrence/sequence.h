#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// The sequence op: a stack over time, as one operation of the outer tape. Immutable apart from its
/// workspace; one call at a time. It may be destroyed or replaced while its results are on a tape, whose
/// rules share its parts. Weights are given layer by layer, then the read-out's, each in the order of its
/// program's weights. One model, one answer: results do not depend on plan, chunk, threads, batch size or
/// streaming.
class SequenceOp {
 public:
  /// Throws InputError when widths of neighboring layers do not fit, for a state that cannot be on the grid
  /// (step/reversible.h), and for the plan `reversible` of an irreversible stack.
  SequenceOp(StackDefinition stack, Dtype dtype, SequenceSettings settings = {});
  SequenceOp(SequenceOp&&) noexcept = default;
  SequenceOp& operator=(SequenceOp&&) noexcept = default;

  const StackDefinition& stack() const;
  Dtype dtype() const;

  /// The loss, a scalar. Gradients of weights, of x and of `initial` (one Var a state, shaped as in Window;
  /// empty: zeros) where they require them. `final_window` receives the states after the last step. Each
  /// slice of the batch runs forward, loss and backward before the next begins.
  Var loss(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The read-out's values (the top layer's output without a read-out): [B, T, q] at every step, else [B, q].
  /// Its backward pass runs the slices forward again, on `pool`, which must live until the tape has run
  /// backward or is rewound.
  Var outputs(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
              std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The values of `outputs` without a tape; only windows are kept.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);

  /// The costs of the plans, the fastest first, and the plan that `automatic` chooses under the budget. Throws
  /// InputError with the needed memory when no plan fits.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;

  /// The largest number of bytes that the op had allocated since its construction.
  std::int64_t peak_bytes() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lagtape
