#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/cells/models/chain_definition.h"

namespace lagtape {

/// A chain at work, as one operation of the outer tape: SequenceOp for models. Weights are given link by
/// link. Windows are those of the sequence ops, one after another.
class ChainOp {
 public:
  /// Throws InputError as SequenceOp does.
  ChainOp(ChainDefinition chain, Dtype dtype, SequenceSettings settings = {});
  ~ChainOp();
  ChainOp(ChainOp&&) noexcept;
  ChainOp& operator=(ChainOp&&) noexcept;

  const ChainDefinition& chain() const;

  /// The loss of batch.x, a scalar. What lies between two links is held whole, [B, T, width], and a link
  /// before the last runs forward once more in the backward pass.
  Var loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The read-out's values without a tape, as SequenceOp::evaluate.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);

  /// Those of the last `loss` in training, by the parameters' numbers among the chain's.
  const Statistics& statistics() const;

  /// What each plan costs, for the whole chain: its sequence ops under that plan, and what lies between them.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  /// What is chosen under the budget, for the whole chain. The plan is `automatic` where sequence ops have
  /// different ones. Throws InputError that says how much is needed when no plan fits.
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;
  /// The same of every sequence op, in their order.
  std::vector<PlanCost> choose_each(std::int64_t batch, std::int64_t steps, int threads) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
