#include "lagtape/data/moments.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

Scaling Moments::standard() const {
  Scaling result;
  for (std::size_t i = 0; i < origin_.size(); ++i) {
    const double shift = sum_[i] / count_;
    const double variance = square_[i] / count_ - shift * shift;
    const double deviation = variance < 0 ? 0 : std::sqrt(variance);  // an infinity or NaN is rejected later
    result.mean.push_back(origin_[i] + shift);
    result.scale.push_back(deviation < kLeastScale ? 1 : deviation);
  }
  return result;
}

}  // namespace lagtape
