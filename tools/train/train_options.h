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

/// The message for truncated BPTT with a read-out that is the mean over all steps.
inline constexpr const char* kTruncatedMean =
    "segments of a sequence need a target at every step, or one that is read at the end. The model reads out "
    "the \"mean\" of all steps.";

/// The conditions under which averaging of the weights starts; the first one that is met applies. Evaluations
/// are counted from the start.
struct AverageOptions {
  std::int64_t patience = 0;  ///< consecutive evaluations without a new best on valid; 0: no condition
  std::int64_t latest = 0;    ///< evaluations in all; 0: no condition
};

/// The memory plan for training, and its limit.
struct MemoryOptions {
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t budget = 0;  ///< bytes; 0: the default of SequenceSettings
  std::string size = {};    ///< the budget as written: "64MiB"
};

/// How a run trains: the experiment's `train`.
struct TrainOptions {
  bool fresh = false;          ///< the training set never ends, so steps count, not epochs
  std::int64_t epochs = 100;   ///< passes over a fixed training set
  std::int64_t steps = 10000;  ///< batches from a fresh training set, which has no epochs
  /// steps between evaluations with a fresh set, which start after step 1
  std::int64_t evaluate_every = 100;
  std::int64_t batch = 32;
  std::int64_t truncate = 0;  ///< steps of truncated backpropagation through time; 0: whole sequences
  double clip = 0;            ///< maximum global norm of the gradients; 0: no clipping
  /// A batch without a usable gradient makes no update and the run continues; otherwise the run ends as
  /// diverged.
  bool skip_not_finite = false;
  Precision precision = Dtype::f32;
  MemoryOptions memory = {};
  bool keep_best = true;       ///< false: the last state is kept
  bool evaluate_test = false;  ///< each evaluation also scores test, without affecting anything
  bool weight_norms = false;   ///< each evaluation also records the 2-norm of every parameter
  /// consecutive evaluations without a new best after which the run ends; 0: never
  std::int64_t patience = 0;
  std::int64_t accumulate = 1;  ///< number of batches whose gradients are combined into one update
  std::int64_t warmup = 0;      ///< initial steps of each sequence that are excluded from loss and metrics
  bool length_buckets = false;  ///< sequences of similar lengths share a batch
  bool balanced = false;        ///< an epoch draws all classes equally often
  std::int64_t overfit = 0;     ///< train and score on only this many batches; 0: on all data
  std::string init = {};        ///< a run or weights file with whose parameters the run starts; empty: none
  /// Evaluations use, and the run keeps, the mean of the weights after every update since averaging started.
  std::optional<AverageOptions> average = {};
};

/// The bytes in "64MiB", "1.5 GB", "4096": B, kB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024. Empty for
/// any other text.
std::optional<std::int64_t> parse_bytes(std::string_view text);

extern const OptionTable kTrainOptions;

/// Reads `train` and finishes the reader.
TrainOptions read_train_options(JsonReader& reader, bool fresh);

}  // namespace lagtape
