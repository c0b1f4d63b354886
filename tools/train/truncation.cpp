#include "lagtape/tools/train/truncation.h"

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// The reason why a model that reads a sequence once cannot be trained so; empty when there is none.
std::string obstacle_to_one_end(const Dataset& train, const ModelOp& op) {
  if (!op.is_one_op()) {
    return "where sequences are read once it is for cells and layers of a step. The model has an embedding, "
           "batch_norm or bidirectional layer.";
  }
  if (train.size() == Dataset::kUnlimited) return {};
  for (std::int64_t i = 1; i < train.size(); ++i) {
    if (train.length(i) == train.length(0)) continue;
    return text_of("where sequences are read once all must be of one length, here the ", train.length(0),
                   " steps of sequence 0 of the training set. Got ", train.length(i), " (sequence ", i, ").");
  }
  return {};
}

}  // namespace

void check_truncation(const Experiment& experiment, const Dataset& train, ReadAt at, const ModelOp& op) {
  std::string obstacle = op.obstacle();
  if (obstacle.empty() && at == ReadAt::mean) obstacle = kTruncatedMean;
  if (obstacle.empty() && !reads_every_step(at)) obstacle = obstacle_to_one_end(train, op);
  if (!obstacle.empty())
    throw InputError({.file = experiment.where, .pointer = "/train/truncate"}, Rule::not_supported, obstacle);
}

}  // namespace lagtape
