#include "lagtape/tools/train/evaluation.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/score/scores.h"
#include "lagtape/tools/train/segments.h"

namespace lagtape {

namespace {

/// Bytes that a step of a sequence takes in input, output and target, and between the model's operations.
std::int64_t bytes_of_step(const Model& model, const ModelOp& op, const DataShape& shape) {
  const std::int64_t outside = model.input_width() + (shape.every_step ? 2 * model.output_width() : 0);
  const std::int64_t numbers = outside + op.evaluation_width();
  return numbers * static_cast<std::int64_t>(byte_size(model.dtype()));
}

/// Runs one sequence, scored at every step, in stretches of at most `steps`.
void score_in_stretches(Scores& scores, SequenceBatch sequence, std::int64_t steps, ModelOp& op,
                        std::span<const Tensor> weights, ThreadPool& pool, const EvaluationOptions& options,
                        const Batch& whole) {
  if (!whole.y.empty()) sequence.targets = whole.y;  // without the units of counts
  Window window;
  for (std::int64_t first = 0; first < sequence.lengths[0]; first += steps) {
    if (options.stop_requested && options.stop_requested()) throw Interrupted("interrupted in an evaluation");
    const Segment segment = segment_of(sequence, first, steps);
    const Window initial = window;
    const Tensor outputs =
        op.evaluate(weights, segment.batch, pool, first == 0 ? nullptr : &initial, &window);
    Batch stretch;
    stretch.lengths = segment.batch.lengths;
    stretch.y = segment.batch.targets;
    stretch.classes = segment.batch.classes;
    stretch.ids = segment.batch.draws.sequences;
    stretch.own = whole.own;
    scores.add(outputs, stretch);
    if (options.scored) options.scored(outputs, stretch);
  }
}

/// The columns of [.., n] before `end`.
Tensor first_columns(const Tensor& whole, std::int64_t end) {
  if (whole.empty() || whole.size(-1) == end) return whole;
  Shape shape = whole.shape();
  shape.back() = end;
  Tensor part(shape, whole.dtype());
  for (std::int64_t i = 0; i < part.numel(); ++i) part.set(i, whole.at(i / end * whole.size(-1) + i % end));
  return part;
}

/// Counts [.., 2 n] of sequences with their own normalizations, each step's n followed by the units of these: what a
/// normalized 1 is. Rounded, as normalized numbers have fewer digits.
Tensor counts_in_units(const Batch& batch) {
  const Normalization none;
  const std::int64_t n = batch.y.size(-1), of_row = batch.y.numel() / batch.size();
  Shape shape = batch.y.shape();
  shape.back() = 2 * n;
  Tensor counts(shape, batch.y.dtype());
  for (std::int64_t i = 0; i < batch.y.numel(); ++i) {
    const Scaling& scaling = batch.normalization(i / of_row, none).output;
    const auto column = static_cast<std::size_t>(i % n);
    const double count = scaling.restored(batch.y.at(i), column), whole = std::round(count);
    const std::int64_t place = i / n * 2 * n + i % n;
    counts.set(place, std::abs(count - whole) <= 1e-6 * (1 + whole) ? whole : count);
    counts.set(place + n, scaling.restored_difference(1, column));
  }
  return counts;
}

/// Throws InputError for the first target that a loss cannot have.
void require_targets(const Batch& batch, Loss loss, const Tensor& targets) {
  const std::int64_t width = targets.numel() / std::max<std::int64_t>(batch.size(), 1);
  const bool of_counts = loss != Loss::binary_cross_entropy;
  for (std::int64_t i = 0; i < targets.numel(); ++i) {
    const double target = targets.at(i);
    if (std::isnan(target) ||
        (of_counts ? target >= 0 && target == std::floor(target) : target == 0 || target == 1))
      continue;
    throw InputError(
        {.pointer = "/loss"}, Rule::shape,
        text_of(name_of(loss), " needs targets that are ", of_counts ? "whole numbers from 0 on" : "0 or 1"),
        text_of(target, " in sequence ", batch.ids[static_cast<std::size_t>(i / width)], ", target ",
                i % width));
  }
}

}  // namespace

double value_of(const Evaluation& evaluation, const std::string& name) {
  for (const auto& [known, value] : evaluation) {
    if (known == name) return value;
  }
  throw Error(text_of("[evaluation] there is no metric '", name, "'."));
}

Evaluation evaluation_of(const Scores& scores, std::span<const std::string> metrics) {
  Evaluation evaluation = {{"loss", scores.loss()}};
  const std::vector<double> values = scores.values();
  for (std::size_t i = 0; i < values.size(); ++i) evaluation.emplace_back(metrics[i], values[i]);
  return evaluation;
}

SequenceBatch sequence_batch(const Batch& batch, const DataShape& shape, Loss loss) {
  SequenceBatch result;
  result.x = batch.x;
  result.lengths = batch.lengths;
  result.draws.sequences = batch.ids;
  if (loss == Loss::binary_cross_entropy && batch.y.empty()) {
    result.targets = Tensor(
        shape.every_step ? Shape{batch.size(), batch.x.size(1), 1} : Shape{batch.size(), 1}, batch.x.dtype());
    for (std::int64_t i = 0; i < result.targets.numel(); ++i) {
      result.targets.set(i, batch.classes[i] < 0 ? std::nan("") : batch.classes[i]);
    }
  } else {
    const TargetDistribution* distribution = loss_row(loss).distribution;
    const bool of_counts = distribution != nullptr && distribution->of_counts;
    result.targets = of_counts && !batch.own.empty() ? counts_in_units(batch) : batch.y;
    if (loss == Loss::binary_cross_entropy || of_counts)
      require_targets(batch, loss, first_columns(result.targets, batch.y.size(-1)));
    result.classes = batch.classes;
  }
  return result;
}

Evaluation evaluate(const Experiment& experiment, const Model& model, ModelOp& op, const Dataset& split,
                    ThreadPool& pool, const EvaluationOptions& options) {
  constexpr std::int64_t kMost = 512;  // sequences at a time; no result depends on it
  if (split.size() == 0) return {};
  const std::vector<Tensor> weights = model.weights();
  const Normalization normalization = normalization_of_data(model);
  const std::int64_t steps =
      std::max<std::int64_t>(options.bytes / bytes_of_step(model, op, split.shape()), 1);
  const std::int64_t rows = std::clamp<std::int64_t>(steps / split.shape().length, 1, kMost);
  const bool in_stretches = split.shape().every_step && split.shape().length > steps && op.obstacle().empty();
  Scores scores(experiment.loss, experiment.metrics, normalization.output, split.shape().class_names, &split);
  for (std::int64_t first = 0; first < split.size(); first += rows) {
    if (options.stop_requested && options.stop_requested()) throw Interrupted("interrupted in an evaluation");
    Batch batch = gather(split, indices_in_order(split, first, rows), model.dtype(), pool, normalization);
    if (experiment.train.warmup > 0) leave_out_first(batch, experiment.train.warmup);
    const SequenceBatch sequences = sequence_batch(batch, split.shape(), experiment.loss);
    if (in_stretches) {
      score_in_stretches(scores, sequences, steps, op, weights, pool, options, batch);
      continue;
    }
    const Tensor outputs = op.evaluate(weights, sequences, pool);
    scores.add(outputs, batch);
    if (options.scored) options.scored(outputs, batch);
  }
  return evaluation_of(scores, experiment.metrics);
}

}  // namespace lagtape
