#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/normalization.h"

namespace lagtape {

/// Mean and standard deviation (of a population) of each feature, from the rows added. Sums are kept around
/// the first row, in f64.
class Moments {
 public:
  explicit Moments(std::int64_t features)
      : origin_(static_cast<std::size_t>(features)), sum_(origin_.size()), square_(origin_.size()) {}

  /// One row, `row(i)` for feature i.
  template <class Row>
  void add(const Row& row) {
    for (std::size_t i = 0; i < origin_.size(); ++i) {
      const double value = row(i);
      if (count_ == 0) origin_[i] = value;
      sum_[i] += value - origin_[i];
      square_[i] += (value - origin_[i]) * (value - origin_[i]);
    }
    count_ += 1;
  }

  /// What makes every feature's mean 0 and its standard deviation 1; one that never changes is shifted
  /// only.
  Scaling standard() const;

 private:
  std::vector<double> origin_, sum_, square_;
  double count_ = 0;
};

}  // namespace lagtape
