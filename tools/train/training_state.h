#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/parameter.h"
#include "lagtape/optim/optimizer.h"
#include "lagtape/optim/weight_average.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/segments.h"

namespace lagtape {

/// How far a run has progressed. A step is a batch: one update, or with truncated BPTT one per segment.
struct TrainingPosition {
  std::int64_t epoch = 0;          ///< completed epochs; always 0 for a fresh training set
  std::int64_t step_of_epoch = 0;  ///< steps done in the current epoch
  std::int64_t step = 0;           ///< steps done in all
};

/// The best state so far, which will be kept.
struct KeptState {
  TrainingPosition position;
  double value = 0;           ///< value of the deciding metric
  std::int64_t averaged = 0;  ///< number of updates over which the parameters are averaged; 0: no average
  Evaluation valid;
  std::vector<Tensor> parameters;
};

/// The counts that decide when averaging of the weights starts, and the position at which it did.
struct AverageState {
  std::int64_t evaluations = 0;     ///< number so far
  std::int64_t stalled = 0;         ///< evaluations since the last new best on valid
  std::optional<double> best = {};  ///< best value of the deciding metric on valid
  std::optional<TrainingPosition> begun = {};
};

/// The counts with which a schedule lowers the learning rate on a plateau.
struct PlateauState {
  std::int64_t plateaus = 0;        ///< number so far
  std::int64_t stalled = 0;         ///< evaluations since the last new best or the last plateau
  std::optional<double> best = {};  ///< the best value of an evaluation
};

/// Everything on which the rest of a run depends in addition to parameters and optimizer, and the sums that its
/// reports need.
struct TrainingState {
  TrainingPosition position;
  std::optional<SegmentProgress> segments = {};  ///< within the step that follows, with truncated BPTT
  std::int64_t evaluated_step = -1;              ///< the step after which valid was last evaluated
  double loss_sum = 0, sequences = 0;            ///< loss and number of the sequences trained on since then
  std::int64_t skipped = 0;                      ///< number of updates since then that were skipped
  std::int64_t skipped_in_all = 0;               ///< the same number for the whole run
  std::int64_t skipped_in_a_row = 0;             ///< the latest consecutive ones
  double lr = 0;                                 ///< learning rate of the last update
  double seconds = 0;                            ///< duration of the run, excluding interruptions
  double training_seconds = 0;                   ///< time spent on updates
  double time_steps = 0;                         ///< number of time steps in the batches of these updates
  std::optional<KeptState> kept;
  AverageState average;
  PlateauState plateau;
};

/// State, parameters, optimizer and, once started, the average as one file, and back. Reading throws InputError
/// if the file belongs to another model, and then changes nothing.
SafetensorsFile pack_state(const TrainingState& state, const Parameters& parameters,
                           const Optimizer& optimizer, const std::optional<WeightAverage>& average);
/// How far the run in the file has progressed.
TrainingPosition position_in(const TensorReader& reader);
/// `op` determines which states the windows between segments contain.
TrainingState unpack_state(TensorReader& reader, const ModelOp& op, Parameters& parameters,
                           Optimizer& optimizer, std::optional<WeightAverage>& average);

}  // namespace lagtape
