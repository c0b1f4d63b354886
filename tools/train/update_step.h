#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/optim/optimizer.h"
#include "lagtape/optim/weight_average.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/segments.h"

namespace lagtape {

/// The outcome of training on a batch.
struct UpdateResult {
  double loss = 0;                     ///< mean over the updates with a finite loss; NaN if there was none
  std::int64_t made = 0, skipped = 0;  ///< numbers of updates
};

/// One update: gradients of a batch, clipping, the optimizer's step. Parameters and the optimizer's moments
/// never receive a non-finite value.
class UpdateStep {
 public:
  /// Model, op and pool must outlive it.
  UpdateStep(const Experiment& experiment, Model& model, ModelOp& op, ThreadPool& pool);

  /// Trains with the rate lr on batches that together form a step: one update with their gradient as if they
  /// were one batch. With truncated BPTT a single batch has one update per segment, and the loss is the mean
  /// over all scored steps; `segments` holds its progress, and `pause`, which may throw, is called between two
  /// updates. Sequences that are read once, at their end, have one update whose gradient reaches back one
  /// segment. An update that cannot be made is skipped if the experiment allows it; otherwise throws
  /// DivergenceError "WHAT is not finite", and the parameters are those before the update.
  UpdateResult train_on(std::span<const SequenceBatch> batches, double lr,
                        std::optional<SegmentProgress>& segments, const std::function<void()>& pause);

  /// The number of updates for a batch of sequences with so many steps.
  std::int64_t updates_of(std::int64_t steps) const;

  /// Frees the memory of the last update until the next one.
  void release_memory() { tape_.emplace(); }

  Optimizer& optimizer() { return *optimizer_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  /// If set, it is given the weights after every update.
  std::optional<WeightAverage>& average() { return average_; }
  const std::optional<WeightAverage>& average() const { return average_; }

 private:
  UpdateResult train_on_several(std::span<const SequenceBatch> batches, double lr);
  /// Makes the update of the next segment. Returns whether it was the last.
  bool train_on_next(const SequenceBatch& batch, double lr, SegmentProgress& progress);
  /// Runs the steps before the last segment forward, without gradients.
  UpdateResult train_on_end(const SequenceBatch& batch, double lr);
  UpdateResult update(const SequenceBatch& batch, double lr, const Window* initial, Window* final_window);
  /// The number of targets in a batch, one per sequence or one per step.
  double scored_steps(const SequenceBatch& batch) const;
  /// Adds `share` of the gradients of a batch's loss, and returns the loss. If the loss is not finite, it adds
  /// none.
  double add_gradients(const SequenceBatch& batch, double share, const Window* initial, Window* final_window);
  /// Makes the update, if the gradients and this loss value allow it.
  UpdateResult finish_update(double loss, const SequenceBatch& batch, double lr, const Window* initial);
  /// Restores all parameters from before the update if one is not finite. Returns the name of the first such
  /// parameter; empty if all are finite.
  std::string restore_unless_finite();

  Model& model_;
  ModelOp& op_;
  ThreadPool& pool_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<WeightAverage> average_;
  std::int64_t truncate_;
  double clip_;
  bool skip_;
  std::optional<Tape> tape_{std::in_place};
  std::vector<Tensor> before_;  // the parameters before the update
};

/// The outcome of all segments in a batch.
UpdateResult result_of(const SegmentProgress& progress);

/// Copies of all parameters, and back.
std::vector<Tensor> copy_values(const Parameters& parameters);
void assign_values(Parameters& parameters, const std::vector<Tensor>& values);

}  // namespace lagtape
