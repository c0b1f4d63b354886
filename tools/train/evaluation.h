#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

class Scores;

/// Metrics of one split by name, the loss first (as "loss"); empty for a split without sequences.
using Evaluation = std::vector<std::pair<std::string, double>>;

/// The value with that name. Throws Error if there is none.
double value_of(const Evaluation& evaluation, const std::string& name);

/// The loss and the values of the metrics of these names.
Evaluation evaluation_of(const Scores& scores, std::span<const std::string> metrics);

/// Converts a batch of data into a batch for the sequence op. Classes become real targets for a loss on one
/// logit. Throws InputError if such a loss gets targets other than 0 and 1.
SequenceBatch sequence_batch(const Batch& batch, const DataShape& shape, Loss loss);

/// Settings of an evaluation other than its numbers.
struct EvaluationOptions {
  std::function<bool()> stop_requested = {};  ///< polled between batches
  /// Called with the outputs and targets of each batch, or of each stretch of a long sequence, both normalized.
  std::function<void(const Tensor& outputs, const Batch& batch)> scored = {};
  std::int64_t bytes = 64 << 20;  ///< the maximum bytes of inputs and outputs at a time
};

/// Computes the experiment's loss and metrics over a whole split, in its own order, with the model's parameters
/// and normalization: the loss of normalized numbers, as in training, and the metrics in the units of the data.
/// A sequence that is scored at every step and is too long for `bytes` runs in pieces, with states carried over
/// and identical sums. Throws Interrupted if a stop is requested.
Evaluation evaluate(const Experiment& experiment, const Model& model, ModelOp& op, const Dataset& split,
                    ThreadPool& pool, const EvaluationOptions& options = {});

}  // namespace lagtape
