#pragma once

#include <functional>
#include <vector>

#include "lagtape/core/random.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// A task that predicts series computed from a few random numbers.
struct GeneratedSeries {
  /// Returns the values of one series, [points, width], drawn from that sequence's own stream.
  std::function<std::vector<double>(RandomStream stream, std::int64_t points)> series;
  std::int64_t width = 1;      ///< numbers per step
  std::int64_t horizon = 1;    ///< steps from an input to its target
  std::int64_t length = 2000;  ///< the default of the option `length`
  std::int64_t test = 1024;    ///< the default of the option `test`
};

/// Reads a task that predicts such a series at every step. Options: length, train (128), valid (128), test.
TaskLoader read_generated_series(JsonReader& reader, const GeneratedSeries& generated);

}  // namespace lagtape
