#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// When the average of the weights begins: whichever comes first. Evaluations are counted from the start.
struct AverageOptions {
  std::int64_t patience = 0;  ///< after so many in a row without a new best on valid; 0: not for that
  std::int64_t latest = 0;    ///< after so many in all; 0: not for that
};

/// How a run trains: the `train` of an experiment.
struct TrainOptions {
  std::int64_t epochs = 100;   ///< over a fixed training set
  std::int64_t steps = 10000;  ///< batches of a fresh training set, which has no epochs
  std::int64_t evaluate_every =
      100;  ///< steps of a fresh set: after the first, then every so many, and after the last
  std::int64_t batch = 32;
  std::int64_t truncate = 0;  ///< steps of truncated back-propagation through time; 0: whole sequences
  double clip = 0;            ///< largest global norm of the gradients; 0: no clipping
  /// A batch without a usable gradient makes no update and the run goes on; else the run ends as diverged.
  bool skip_not_finite = false;
  Dtype precision = Dtype::f32;
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t budget = 0;  ///< bytes; 0: as SequenceSettings
  bool keep_best = true;    ///< else the last state
  /// Evaluations, and so what is kept, have the mean of the weights after every update since it began.
  std::optional<AverageOptions> average = {};
};

/// Bytes of "64MiB", "1.5 GB", "4096": B, kB, MB, GB by thousands, KiB, MiB, GiB by 1024. Empty when it is
/// none of that.
std::optional<std::int64_t> parse_bytes(std::string_view text);

class JsonReader;

/// Reads `train` and finishes the reader. `fresh`: the task's training set never ends, so that steps count,
/// not epochs.
TrainOptions read_train_options(JsonReader& reader, bool fresh);

}  // namespace lagtape
