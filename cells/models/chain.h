#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/cells/models/chain_definition.h"

namespace lagtape {

/// A chain that can run: its sequence ops, and the forward pass of evaluation. Weights are passed part by part.
/// Windows are those of the sequence ops, one after another. One call at a time.
struct Chain {
  ChainDefinition definition;
  Dtype dtype;
  /// For each part, its one sequence op or the ops that its layer runs.
  std::vector<std::vector<SequenceOp>> ops;

  /// Throws InputError as SequenceOp does.
  Chain(ChainDefinition definition, Dtype dtype, const SequenceSettings& settings);

  bool is_one_op() const { return definition.parts.size() == 1; }
  /// The batch as the parts see it: without lengths if the read-out reads padding.
  SequenceBatch seen(const SequenceBatch& batch) const;

  /// The read-out's values without a tape, like SequenceOp::evaluate.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);
};

}  // namespace lagtape
