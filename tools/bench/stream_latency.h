#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/bench/timing.h"

namespace lagtape::bench {

struct LatencyOptions {
  std::int64_t steps = 100'000;  ///< steps of a repeat
  int repeats = 15;
  /// Another stream that takes turns with the model's own: bf16 or int8, calibrated on the inputs.
  std::optional<ProductFormat> weights = {};
};

/// The time in nanoseconds of one `Stream::step` of one row, read-out included, on the calling thread, with
/// normal numbers as inputs.
struct StreamLatency {
  Timing own;
  Timing other = {};  ///< the time of the stream with LatencyOptions::weights
  /// Root mean square of the difference between the outputs of both, over that of the own.
  double error = 0;
};

/// Throws Error if the own stream's outputs differ in any bit from those of `Model::predict`, or the other stream's
/// from its outputs in a block.
StreamLatency stream_latency(const Model& model, const LatencyOptions& options);

/// The times of single steps in nanoseconds, the reading of the clock included.
struct LatencyDistribution {
  double median = 0, p9999 = 0, largest = 0;  ///< 99.99 % of the steps take at most p9999
  double clock = 0;  ///< median of two readings of the clock without a step between them
  /// The number of steps of less than 2^b ns and at least half of that, b = 0, 1, ... up to the largest.
  std::vector<std::int64_t> bins = {};
};

/// Times single steps of the model's own stream of one row on the calling thread, at most 2^22 of them.
LatencyDistribution stream_distribution(const Model& model, const LatencyOptions& options);

/// The number of steps that `prediction_time` predicts.
inline constexpr std::int64_t kPredictedSteps = 1024;

/// The time in microseconds of one `Model::predict` of one sequence of that many steps, on one thread.
Timing prediction_time(const Model& model, int repeats);

}  // namespace lagtape::bench
