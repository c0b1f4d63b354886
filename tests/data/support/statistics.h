#pragma once

#include <algorithm>
#include <cmath>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// Statistics of a prediction task: mean, standard deviation and range of all numbers of x, and the errors of
/// two ways to predict the targets without learning.
struct SeriesStatistics {
  double mean = 0, deviation = 0, least = 1e300, largest = -1e300;
  double target_size = 0;    ///< root mean square of y
  double persistence = 0;    ///< root mean square of y[n] - x[n]
  double extrapolation = 0;  ///< root mean square of y[n] - (2 x[n] - x[n - 1]), n >= 1
};

inline SeriesStatistics statistics_of(const Batch& batch) {
  const std::int64_t width = batch.x.size(2), row = batch.x.size(1) * width, count = batch.x.numel();
  SeriesStatistics s;
  double sum = 0, squares = 0, targets = 0, jumps = 0, bends = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = batch.x.at(i), y = batch.y.at(i);
    sum += x, squares += x * x, targets += y * y, jumps += (y - x) * (y - x);
    s.least = std::min(s.least, x), s.largest = std::max(s.largest, x);
    if (i % row >= width) bends += std::pow(y - 2 * x + batch.x.at(i - width), 2);
  }
  const auto all = static_cast<double>(count);
  s.mean = sum / all;
  s.deviation = std::sqrt(squares / all - s.mean * s.mean);
  s.target_size = std::sqrt(targets / all);
  s.persistence = std::sqrt(jumps / all);
  s.extrapolation = std::sqrt(bends / (all - static_cast<double>(batch.size() * width)));
  return s;
}

}  // namespace lagtape
