#pragma once

#include <vector>

#include "lagtape/cells/models/chain.h"

namespace lagtape {

// Internal: a detail of chain.cpp, chain_loss.cpp and chain_memory.cpp.

/// What a ChainOp is made of.
struct ChainOp::Implementation {
  ChainDefinition chain;
  Dtype dtype;
  SequenceSettings settings;
  /// Of a link: one sequence op, or those of its layer.
  std::vector<std::vector<SequenceOp>> ops;
  Statistics statistics;

  Implementation(ChainDefinition chain, Dtype dtype, const SequenceSettings& settings);

  bool is_one_op() const { return chain.links.size() == 1; }

  /// The batch as the links see it: without lengths where padding counts.
  SequenceBatch seen(const SequenceBatch& batch) const;
  /// Steps that a link's input has.
  std::vector<std::int64_t> steps_of_links(std::int64_t steps) const;
  /// Bytes of what lies between the links in training.
  std::int64_t bytes_between(std::int64_t batch, std::int64_t steps) const;

  /// The settings of every op, in their order, under which all together keep within the budget. Throws
  /// InputError that says how much is needed.
  std::vector<SequenceSettings> shares(std::int64_t batch, std::int64_t steps, int threads) const;
  /// Makes the ops as `shares` has them for such a batch.
  void prepare(std::int64_t batch, std::int64_t steps, int threads);

  std::vector<SequenceSettings> made_with;  ///< settings of the ops
};

}  // namespace lagtape
