#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/tools/bench/timing.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape::bench {

struct BenchmarkOptions {
  int threads = 0;  ///< of lagtape; 0: the best of 1..N
  int repeats = 15;
  bool subnormal = false;  ///< also time states and deltas that are subnormal numbers
};

/// All times are microseconds a time step.
struct BenchmarkResult {
  std::int64_t steps = 0, batch = 0;
  Timing forward;   ///< keeping nothing
  Timing backward;  ///< what total takes beyond the fastest forward
  Timing total;
  /// Total with inputs and weights that make states and deltas subnormal numbers; with the same threads. When
  /// asked for.
  std::optional<Timing> subnormal;
  Timing onednn_lstm;  ///< forward and backward of an LSTM of the first layer's sizes, best of 1..N threads
  double ratio = 0;    ///< total.median / onednn_lstm.median
  Timing sgemm;        ///< Gflop/s of a large product, in turn with the passes, at most 15 times
  std::string plan;
  std::int64_t plan_bytes = 0;
  std::int64_t peak_rss_bytes = 0;  ///< before the peer allocated anything
  int threads = 0, onednn_threads = 0;
};

/// Times forward and backward of an experiment's model on random numbers of its data's shape, repeat by
/// repeat in turn with oneDNN's LSTM. The peer's results are checked first. Throws InputError when the memory
/// budget cannot be met.
BenchmarkResult run_benchmark(const Experiment& experiment, const DataShape& data,
                              const BenchmarkOptions& options);

}  // namespace lagtape::bench
