#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/bench/timing.h"

namespace lagtape::bench {

struct LatencyOptions {
  std::int64_t steps = 100'000;  ///< steps per repeat
  int repeats = 15;
  /// Another stream that alternates with the model's own: bf16 or int8, calibrated on the inputs.
  std::optional<ProductFormat> weights = {};
};

/// The time in nanoseconds of one `Stream::step` of one row, read-out included, on the calling thread, with
/// normal numbers as inputs.
struct StreamLatency {
  Timing own;
  Timing other = {};  ///< the time of the stream with LatencyOptions::weights
  /// Root mean square of the difference between both outputs, relative to that of the model's own.
  double error = 0;
};

/// Throws Error if the own stream's outputs differ in any bit from `Model::predict`, or the other stream's from
/// its outputs in a block.
StreamLatency stream_latency(const Model& model, const LatencyOptions& options);

/// The times of single steps in nanoseconds, including reading the clock.
struct LatencyDistribution {
  double median = 0, p9999 = 0, largest = 0;  ///< 99.99 % of the steps take at most p9999
  double clock = 0;                           ///< median of two clock readings without a step between them
  /// The number of steps that took at least 2^(b-1) ns and less than 2^b ns, for b = 0, 1, ... up to the
  /// largest.
  std::vector<std::int64_t> bins = {};
};

/// Times at most 2^22 single steps of the model's own stream of one row on the calling thread.
LatencyDistribution stream_distribution(const Model& model, const LatencyOptions& options);

/// The number of steps that `prediction_time` predicts.
inline constexpr std::int64_t kPredictedSteps = 1024;

/// The time in microseconds of one `Model::predict` of one sequence of that many steps, on one thread.
Timing prediction_time(const Model& model, int repeats);

}  // namespace lagtape::bench
