#include "lagtape/tools/train/training_check.h"

#include <algorithm>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/evaluation.h"

namespace lagtape {

namespace {

/// Refuses options that the data do not allow.
void check_options(const Experiment& experiment, const Task& task) {
  const auto refuse = [&](const char* key, const auto&... what) {
    throw InputError(text_of(experiment.where, ": /train/", key, ": ", what...));
  };
  const TrainOptions& train = experiment.train;
  const bool is_scored = task.valid->size() > 0;
  if (train.average && train.average->latest == 0 && !is_scored)
    refuse("average",
           "patience counts evaluations of valid, which has no sequences. Give latest, or a valid set.");
  if (train.patience > 0 && !is_scored)
    refuse("patience", "it counts evaluations of valid, which has no sequences. Give 0, or a valid set.");
  if (train.warmup > 0 && (!task.shape.every_step || train.warmup >= task.shape.length))
    refuse("warmup",
           "it counts steps of sequences with a target at every step, and leaves at least one. Got ",
           train.warmup, " for sequences of ", task.shape.length, " steps",
           task.shape.every_step ? "." : " with one target.");
}

/// Refuses a batch of inputs and targets that takes more than half of the memory; the other half is for the states.
void check_batch(const Experiment& experiment, const Task& task) {
  const DataShape& shape = task.shape;
  const TrainOptions& train = experiment.train;
  const std::int64_t rows = std::min(train.batch * train.accumulate, task.train->size());
  const std::int64_t targets = shape.every_step ? std::max<std::int64_t>(shape.output, 1) : 0;
  const double bytes = static_cast<double>(rows) * static_cast<double>(shape.length) *
                       static_cast<double>(shape.input + targets) *
                       static_cast<double>(byte_size(train.precision));
  if (bytes <= static_cast<double>(system_memory()) / 2) return;
  throw InputError(text_of(experiment.where, rows > 1 ? ": /train/batch: " : ": /data: ", rows,
                           rows > 1 ? " sequences" : " sequence", " of up to ", shape.length, " steps of ",
                           shape.input, shape.input == 1 ? " input take " : " inputs take ",
                           bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
                           ", more than half of the memory. Give ",
                           rows > 1 ? "fewer, or shorter ones." : "shorter ones."));
}

void check_targets(const Experiment& experiment, const Task& task, const Model& model, ThreadPool& pool) try {
  const std::vector<std::int64_t> one = indices_in_order(*task.train, 0, 1);
  const Batch first = gather(*task.train, one, model.dtype(), pool, task.normalization);
  sequence_batch(first, task.shape, experiment.loss);
} catch (const InputError& error) {
  throw InputError(text_of(experiment.where, ": ", error.what()));
}

}  // namespace

void check_training(const Experiment& experiment, const Task& task, const Model& model, ThreadPool& pool) {
  check_options(experiment, task);
  check_batch(experiment, task);
  check_targets(experiment, task, model, pool);
}

}  // namespace lagtape
