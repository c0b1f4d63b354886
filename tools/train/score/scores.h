#pragma once

#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/ops/signal_loss.h"
#include "lagtape/tools/train/score/accumulator.h"

namespace lagtape {

/// The loss and some metrics over everything scored in a split, in f64. An element is one real target number or
/// one class.
class Scores {
 public:
  /// `scaling` is for real targets; `split`, which must outlive the scores, is the set of the batches; null:
  /// naive errors are unknown. Throws InputError for an unknown metric.
  Scores(const LossFunction& loss, std::span<const std::string> metrics, Scaling scaling = {},
         std::span<const std::string> class_names = {}, const Dataset* split = nullptr);

  /// Adds a batch's sequences. outputs: [B, T, q] if every step is scored, else [B, q]; only a sequence's own
  /// steps count. Errors of a loss with several levels are those of the level nearest to the median. Throws
  /// InputError if the outputs do not fit the batch's targets.
  void add(const Tensor& outputs, const Batch& batch) { add(outputs, batch, 0, batch.size()); }
  /// Adds its rows first .. end - 1.
  void add(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end);
  /// Adds the sequences of scores by the same loss and metrics.
  void merge(const Scores& other);

  /// The mean loss of an element, as in training; for esr and dc, the loss of all sequences as one batch.
  double loss() const;
  /// The values of the metrics, in order.
  std::vector<double> values() const;

 private:
  template <class T>
  void add_rows(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end);
  template <class T>
  void add_signal(const T* outputs, const T* targets, std::int64_t steps, std::int64_t q);

  LossFunction loss_;
  Scaling scaling_;
  const Dataset* split_;
  bool needs_quantiles_ = false, needs_crps_ = false;
  SignalSums signal_;                      ///< esr and dc: the sums of the loss
  std::vector<Accumulator> accumulators_;  ///< of the loss and the metrics
};

}  // namespace lagtape
