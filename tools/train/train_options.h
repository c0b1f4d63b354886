#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lagtape/core/option_table.h"
#include "lagtape/core/precision.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The message of truncated BPTT about a read-out that is the mean over all steps.
inline constexpr const char* kTruncatedMean =
    "segments of a sequence need a target at every step, or one that is read at the end. The model reads out "
    "the \"mean\" of all steps.";

/// The conditions under which the average of the weights begins; the first one that holds counts. Evaluations
/// are counted from the start.
struct AverageOptions {
  std::int64_t patience = 0;  ///< evaluations in a row without a new best on valid; 0: no condition
  std::int64_t latest = 0;    ///< evaluations in all; 0: no condition
};

/// The memory plan of training, and its limit.
struct MemoryOptions {
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t budget = 0;  ///< bytes; 0: the default of SequenceSettings
  std::string size = {};    ///< the budget as written: "64MiB"
};

/// How a run trains: the `train` of an experiment.
struct TrainOptions {
  bool fresh = false;                 ///< the training set never ends, so steps count, not epochs
  std::int64_t epochs = 100;          ///< passes over a fixed training set
  std::int64_t steps = 10000;         ///< batches of a fresh training set, which has no epochs
  std::int64_t evaluate_every = 100;  ///< steps between evaluations of a fresh set, which begin after step 1
  std::int64_t batch = 32;
  std::int64_t truncate = 0;  ///< steps of truncated back-propagation through time; 0: whole sequences
  double clip = 0;            ///< largest global norm of the gradients; 0: no clipping
  /// A batch without a usable gradient makes no update and the run continues; else the run ends as diverged.
  bool skip_not_finite = false;
  Precision precision = Dtype::f32;
  MemoryOptions memory = {};
  bool keep_best = true;        ///< false: the last state is kept
  bool evaluate_test = false;   ///< each evaluation also scores test, which decides nothing
  bool weight_norms = false;    ///< each evaluation also notes the 2-norm of every parameter
  std::int64_t patience = 0;    ///< evaluations in a row without a new best that end the run; 0: never
  std::int64_t accumulate = 1;  ///< batches whose gradients make one update
  std::int64_t warmup = 0;      ///< first steps of each sequence that count in neither loss nor metrics
  bool length_buckets = false;  ///< sequences of similar lengths share a batch
  bool balanced = false;        ///< an epoch draws all classes equally often
  std::int64_t overfit = 0;     ///< train and score on that many batches alone; 0: on all data
  std::string init = {};        ///< a run or weights file whose parameters the run begins with; empty: none
  /// Evaluations use, and the run keeps, the mean of the weights after every update since the average began.
  std::optional<AverageOptions> average = {};
};

/// Bytes of "64MiB", "1.5 GB", "4096": B, kB, MB, GB by thousands, KiB, MiB, GiB by 1024. Empty for any other
/// text.
std::optional<std::int64_t> parse_bytes(std::string_view text);

extern const OptionTable kTrainOptions;

/// Reads `train` and finishes the reader.
TrainOptions read_train_options(JsonReader& reader, bool fresh);

}  // namespace lagtape
