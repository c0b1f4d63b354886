#pragma once

#include <cstdint>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/bench/timing.h"

namespace lagtape::bench {

struct LatencyOptions {
  std::int64_t steps = 100'000;  ///< a repeat
  int repeats = 15;
};

/// Nanoseconds that one `Stream::step` of one row takes, layers and read-out, on the calling thread, fed with
/// normal numbers. The stream's answer is first compared with `Model::predict`, bit for bit; throws Error
/// when they differ.
Timing stream_latency(const Model& model, const LatencyOptions& options);

}  // namespace lagtape::bench
