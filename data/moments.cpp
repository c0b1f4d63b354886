#include "lagtape/data/moments.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

Scaling Moments::standard() const {
  Scaling result;
  for (std::size_t i = 0; i < origin_.size(); ++i) {
    const double shift = sum_[i] / count_;
    const double deviation = std::sqrt(std::max(square_[i] / count_ - shift * shift, 0.0));
    result.mean.push_back(origin_[i] + shift);
    result.scale.push_back(deviation > 0 ? deviation : 1);
  }
  return result;
}

}  // namespace lagtape
