#include "lagtape/tools/train/training_check.h"

#include <algorithm>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

namespace {

/// Whether the data are those of files.
bool reads_files(const Experiment& experiment) {
  if (!experiment.document) return true;
  return std::ranges::any_of(paths_of(*experiment.document),
                             [](const NamedPath& named) { return named.setting.starts_with("data."); });
}

/// Refuses options that the data do not allow.
void check_options(const Experiment& experiment, const Task& task) {
  const auto refuse = [&](const char* key, const auto&... what) {
    throw InputError({.file = experiment.where, .pointer = text_of("/train/", key)}, Rule::conflict,
                     text_of(what...));
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
  throw InputError({.file = experiment.where, .pointer = rows > 1 ? "/train/batch" : "/data"},
                   Rule::no_memory,
                   text_of(rows, rows > 1 ? " sequences" : " sequence", " of up to ", shape.length,
                           " steps of ", shape.input, shape.input == 1 ? " input take " : " inputs take ",
                           bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
                           ", more than half of the memory. Give ",
                           rows > 1 ? "fewer, or shorter ones." : "shorter ones."));
}

/// Reads the beginning of a set as a training or an evaluation will, and throws where that would.
void read_through(const Experiment& experiment, const Task& task, const Dataset& set, std::int64_t numbers,
                  const Model& model, ThreadPool& pool) {
  constexpr std::int64_t kAtOnce = 64;
  const DataShape& shape = task.shape;
  const std::int64_t of_sequence = shape.length * (shape.input + std::max<std::int64_t>(shape.output, 1));
  const std::int64_t count = std::min(set.size(), std::max<std::int64_t>(numbers / of_sequence, 1));
  const std::int64_t rows = std::clamp<std::int64_t>((1 << 20) / of_sequence, 1, kAtOnce);
  for (std::int64_t first = 0; first < count; first += rows) {
    const auto indices = indices_in_order(set, first, std::min(rows, count - first));
    sequence_batch(gather(set, indices, model.dtype(), pool, task.normalization), shape, experiment.loss);
  }
}

/// Finds numbers that are not finite and targets that do not go with the loss before the first step rather than after a
/// whole training. Generated data have none, so it looks at one sequence.
void check_numbers(const Experiment& experiment, const Task& task, const Model& model, ThreadPool& pool) {
  constexpr std::int64_t kMostNumbers = 20'000'000;
  const std::int64_t numbers = reads_files(experiment) ? kMostNumbers : 1;
  const std::pair<const char*, const Dataset*> sets[] = {
      {"", task.train.get()}, {"valid", task.valid.get()}, {"test", task.test.get()}};
  for (const auto& [name, set] : sets) {
    if (set->size() == 0) continue;
    try {
      read_through(experiment, task, *set, numbers, model, pool);
    } catch (const InputError& error) {
      throw error.within({.file = experiment.where, .item = name});
    }
  }
}

/// The reason why a model that reads a sequence once cannot be trained so; empty when there is none.
std::string obstacle_to_one_end(const Dataset& train, const ModelOp& op) {
  if (!op.is_one_op()) {
    return "where sequences are read once it is for cells and layers of a step. The model has an embedding, "
           "batch_norm or bidirectional layer.";
  }
  if (train.size() == Dataset::kUnlimited) return {};
  for (std::int64_t i = 1; i < train.size(); ++i) {
    if (train.length(i) == train.length(0)) continue;
    return text_of("where sequences are read once all must be of one length, here the ", train.length(0),
                   " steps of sequence 0 of the training set. Got ", train.length(i), " (sequence ", i, ").");
  }
  return {};
}

/// Refuses truncated BPTT for a model or training set that does not go with it. Where sequences are read once, all must
/// have one length, because the steps with gradients are the last ones of a batch, and the model must be one sequence
/// op, because the steps before them run as in evaluation.
void check_truncation(const Experiment& experiment, const Dataset& train, ReadAt at, const ModelOp& op) {
  std::string obstacle = op.obstacle();
  if (obstacle.empty() && at == ReadAt::mean) obstacle = kTruncatedMean;
  if (obstacle.empty() && !reads_every_step(at)) obstacle = obstacle_to_one_end(train, op);
  if (!obstacle.empty())
    throw InputError({.file = experiment.where, .pointer = "/train/truncate"}, Rule::not_supported, obstacle);
}

}  // namespace

void check_training(const Experiment& experiment, const Task& task, const Model& model, const ModelOp& op,
                    ThreadPool& pool) {
  if (experiment.train.truncate > 0) check_truncation(experiment, *task.train, model.at(), op);
  check_options(experiment, task);
  check_batch(experiment, task);
  check_numbers(experiment, task, model, pool);
}

}  // namespace lagtape
