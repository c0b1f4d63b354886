#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/cell.h"
#include "lagtape/cells/sequence_layer.h"

namespace lagtape {

/// One of the operations of a chain: a sequence op, or a layer of whole sequences.
struct Link {
  StackDefinition stack;                       ///< of the sequence op
  std::shared_ptr<const SequenceLayer> layer;  ///< in place of it; null: none
  std::size_t weights = 0, parameters = 0;     ///< how many of the chain's are its own

  std::int64_t output_width() const;
};

/// What runs a model: its layers as operations one after another. Layers of a step and cells that follow each
/// other are one sequence op, the last of which has the read-out and the loss. A model without layers of
/// whole sequences is a chain of one sequence op.
struct ChainDefinition {
  std::vector<Link> links;
  std::optional<Arithmetic> states = {};  ///< of all states, in place of their own

  std::int64_t input_width() const;  ///< 1 for tokens
  std::int64_t output_width() const;
  ReadAt at() const { return links.back().stack.at; }
  Loss loss() const { return links.back().stack.loss; }
  /// Rows of the table that the inputs are numbers of; 0: inputs are no tokens.
  std::int64_t tokens() const;
  /// Why sequences cannot come in pieces; empty when they can.
  std::string obstacle() const;
};

/// The chain of layers with a read-out at the top.
ChainDefinition make_chain(std::span<const Layer> layers, const Layer& readout, ReadAt at, Loss loss);

/// The layers as evaluation has them: what is then a layer of a step alone is one, and belongs to a sequence
/// op.
std::vector<Layer> in_evaluation(std::span<const Layer> layers);

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
