#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/normalization.h"

namespace lagtape {

/// Mean and (population) standard deviation of each feature over the rows added. Sums are kept in f64 relative
/// to the first row, to avoid cancellation.
class Moments {
 public:
  explicit Moments(std::int64_t features)
      : origin_(static_cast<std::size_t>(features)), sum_(origin_.size()), square_(origin_.size()) {}

  /// Adds one row with the value `row(i)` for feature i.
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

  /// The scaling that gives every feature mean 0 and standard deviation 1; features that are constant or vary
  /// by less than kLeastScale are only shifted.
  Scaling standard() const;

 private:
  std::vector<double> origin_, sum_, square_;
  double count_ = 0;
};

}  // namespace lagtape
