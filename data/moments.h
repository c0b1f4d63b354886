#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// Mean and standard deviation (of a population) of each input, from the steps added. Sums are kept around
/// the first step, in f64.
class Moments {
 public:
  explicit Moments(std::int64_t inputs)
      : origin_(static_cast<std::size_t>(inputs)), sum_(origin_.size()), square_(origin_.size()) {}

  /// One step, `step(i)` for input i.
  template <class Step>
  void add(const Step& step) {
    for (std::size_t i = 0; i < origin_.size(); ++i) {
      const double value = step(i);
      if (count_ == 0) origin_[i] = value;
      sum_[i] += value - origin_[i];
      square_[i] += (value - origin_[i]) * (value - origin_[i]);
    }
    count_ += 1;
  }

  /// What makes every input's mean 0 and its standard deviation 1; an input that never changes is shifted
  /// only.
  InputNormalization standard() const;

 private:
  std::vector<double> origin_, sum_, square_;
  double count_ = 0;
};

}  // namespace lagtape
