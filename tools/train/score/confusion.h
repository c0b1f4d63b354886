#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The class in the data, and the class in the outputs: the largest logit, or whether the only one is positive.
struct ScoredClass {
  std::int64_t actual = -1;  ///< -1: the target is missing
  std::int64_t predicted = -1;
};
/// The class at a position in outputs [B, q] or [B, T, q], counted over rows and steps.
ScoredClass class_at(const Tensor& outputs, const Batch& batch, std::int64_t place);

/// Counts of each predicted class for each true class.
class Confusion {
 public:
  /// Throws InputError unless the targets are classes, and few enough to count (at most 4096).
  explicit Confusion(const DataShape& data);

  /// Counts everything scored in a batch.
  void add(const Tensor& outputs, const Batch& batch);

  std::int64_t classes() const { return data_.classes; }
  bool has_names() const { return !data_.class_names.empty(); }
  /// The name of a class in the data, or its number.
  std::string name(std::int64_t of) const { return data_.name_of_class(of); }
  std::int64_t count(std::int64_t actual, std::int64_t predicted) const {
    return counts_[static_cast<std::size_t>(actual * data_.classes + predicted)];
  }

  /// The fraction of elements predicted as a class that belong to it, the fraction of its elements that are
  /// predicted as such, and the harmonic mean of both; NaN if there are none.
  double precision(std::int64_t of) const;
  double recall(std::int64_t of) const;
  double f1(std::int64_t of) const;

 private:
  double actual(std::int64_t of) const;
  double predicted(std::int64_t as) const;

  DataShape data_;
  std::vector<std::int64_t> counts_;
};

}  // namespace lagtape
