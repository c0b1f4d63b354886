#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/tools/bench/timing.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape::bench {

struct BenchmarkOptions {
  int threads = 0;  ///< threads of lagtape; 0: the best of 1..N
  int repeats = 15;
  bool subnormal = false;  ///< also time states and deltas that are subnormal
};

/// Times in microseconds per time step.
struct BenchmarkResult {
  std::int64_t steps = 0, batch = 0;
  Timing forward;   ///< without saving anything for the backward pass
  Timing backward;  ///< `total` minus the fastest forward pass
  Timing total;
  /// The total with inputs and weights that make states and deltas subnormal, using the same threads, if
  /// requested.
  std::optional<Timing> subnormal;
  /// Forward and backward passes of oneDNN's LSTM with the first layer's sizes, best of 1..N threads. This and
  /// the members below are empty in a program without oneDNN.
  std::optional<Timing> onednn_lstm;
  std::optional<double> ratio;  ///< total.median / onednn_lstm.median
  std::string onednn_missing;   ///< why oneDNN's LSTM was not measured at these sizes; empty: it was
  /// The same LSTM in bf16, if the experiment's precision is bf16 and the processor has the instruction.
  std::optional<Timing> onednn_bf16_lstm;
  std::optional<Timing>
      sgemm;  ///< Gflop/s of a large matrix product, interleaved with the passes, at most 15 times
  std::string plan;
  std::int64_t plan_bytes = 0;
  std::int64_t peak_rss_bytes = 0;  ///< before oneDNN's LSTM allocates anything
  int threads = 0, onednn_threads = 0, onednn_bf16_threads = 0;
};

/// Times the forward and backward passes of an experiment's model on random numbers of the data's shape,
/// interleaved repeat by repeat with oneDNN's LSTMs, whose results are checked first. Throws InputError if the
/// memory budget cannot be met.
BenchmarkResult run_benchmark(const Experiment& experiment, const DataShape& data,
                              const BenchmarkOptions& options);

}  // namespace lagtape::bench
