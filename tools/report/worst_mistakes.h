#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/step/loss_function.h"

namespace lagtape::report {

/// A sequence that a model gets wrong.
struct Mistake {
  std::int64_t sequence = 0;
  double error =
      0;  ///< root of the mean squared error in the units of the data; for a class, the probability of the wrong one
  std::int64_t actual = -1, predicted = -1;  ///< classes; -1 for real targets
};

/// Collects the largest errors of a split, a sequence each.
class WorstMistakes {
 public:
  static constexpr std::size_t kMost = 10;

  /// `scaling` is that of the targets.
  WorstMistakes(const DataShape& data, Scaling scaling, LossFunction loss)
      : data_(data), scaling_(std::move(scaling)), loss_(std::move(loss)) {}

  /// Takes in a batch of a split in its order. `outputs`: [B, q] or [B, T, q], normalised as the targets are;
  /// of several outputs a target the one nearest to the median counts.
  void add(const Tensor& outputs, const Batch& batch);
  /// The mistakes, the largest first.
  const std::vector<Mistake>& all() const { return worst_; }

 private:
  Mistake mistake_of(const Tensor& outputs, const Batch& batch, std::int64_t row) const;
  Mistake class_mistake(const Tensor& outputs, const Batch& batch, std::int64_t place) const;

  DataShape data_;
  Scaling scaling_;
  LossFunction loss_;
  std::vector<Mistake> worst_;
};

}  // namespace lagtape::report
