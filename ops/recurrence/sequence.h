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

/// The sequence op: a stack over time, as one operation of the outer tape. Immutable apart from its workspace;
/// one call at a time. It may be destroyed or replaced while its results are on a tape, whose rules share its
/// parts. Weights are passed layer by layer, then the read-out's, each in the order of its program's weights.
/// Results do not depend on plan, chunk, threads, batch size, or streaming.
class SequenceOp {
 public:
  /// Throws InputError if the widths of neighboring layers do not match, for a state that cannot be on the grid
  /// (step/reversible.h), and for the `reversible` plan with an irreversible stack.
  SequenceOp(StackDefinition stack, Dtype dtype, SequenceSettings settings = {});
  SequenceOp(SequenceOp&&) noexcept = default;
  SequenceOp& operator=(SequenceOp&&) noexcept = default;

  const StackDefinition& stack() const;
  Dtype dtype() const;

  /// The loss, a scalar. Gradients of weights, x, and `initial` (one Var per state, shaped as in Window; empty:
  /// zeros) are computed where required. `final_window` receives the states after the last step. Each slice of
  /// the batch runs forward, loss, and backward before the next one starts.
  Var loss(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The read-out's values (without a read-out, the top layer's output): [B, T, q] at every step, else [B, q].
  /// The backward pass reruns the slices forward on `pool`, which must live until the tape has run backward or
  /// is rewound.
  Var outputs(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
              std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The values of `outputs` without a tape; only windows are kept.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);

  /// The costs of the plans, fastest first, and the plan that `automatic` chooses within the budget. Throws
  /// InputError stating the required memory if no plan fits.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;

  /// The most bytes that the op has had allocated at any time.
  std::int64_t peak_bytes() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lagtape
