#pragma once

#include <optional>
#include <vector>

#include "lagtape/cells/models/chain.h"
#include "lagtape/cells/models/model_op.h"

namespace lagtape {

/// The insides of a ModelOp, shared by its sources: model_op.cpp (evaluation), model_training.cpp and
/// model_memory.cpp.
struct ModelOp::Implementation {
  Chain training;
  std::optional<Chain> evaluation;  ///< set if evaluation runs a different chain
  SequenceSettings settings;        ///< the request, for the whole model
  /// The settings of each op of the training chain, in order.
  std::vector<SequenceSettings> made_with;
  Statistics statistics = {};  ///< statistics from the last loss evaluation, indexed by parameter

  Chain& in_evaluation() { return evaluation ? *evaluation : training; }
  const Chain& in_evaluation() const { return evaluation ? *evaluation : training; }

  /// The number of steps in each part's input.
  std::vector<std::int64_t> steps_of_parts(std::int64_t steps) const;
  /// The bytes between the parts in training.
  std::int64_t bytes_between(std::int64_t batch, std::int64_t steps) const;
  /// The settings of every op, in order, under which all of them together stay within the budget. Throws
  /// InputError with the needed memory.
  std::vector<SequenceSettings> shares(std::int64_t batch, std::int64_t steps, int threads) const;
  /// Rebuilds the ops if `shares` assigns them other settings for such a batch.
  void prepare(std::int64_t batch, std::int64_t steps, int threads);
};

}  // namespace lagtape
