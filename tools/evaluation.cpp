#include "lagtape/tools/evaluation.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/metrics.h"

namespace lagtape {

namespace {

/// Sequences evaluated at a time: as many as input and output of about 64 MB allow. No result depends on it.
std::int64_t evaluation_batch(const Model& model, const DataShape& shape) {
  constexpr std::int64_t kBytes = 64 << 20, kMost = 512;
  const std::int64_t per_step = model.input_width() + (shape.every_step ? 2 * model.output_width() : 0);
  const std::int64_t row = shape.length * per_step * static_cast<std::int64_t>(byte_size(model.dtype()));
  return std::clamp<std::int64_t>(kBytes / std::max<std::int64_t>(row, 1), 1, kMost);
}

void require_binary(const Batch& batch) {
  const std::int64_t width = batch.y.numel() / std::max<std::int64_t>(batch.size(), 1);
  for (std::int64_t i = 0; i < batch.y.numel(); ++i) {
    const double target = batch.y.at(i);
    if (target == 0 || target == 1) continue;
    throw InputError(concat("/loss: binary_cross_entropy needs targets that are 0 or 1. Got ", target,
                            " in sequence ", batch.ids[static_cast<std::size_t>(i / width)], ", target ",
                            i % width, "."));
  }
}

}  // namespace

double value_of(const Evaluation& evaluation, const std::string& name) {
  for (const auto& [known, value] : evaluation) {
    if (known == name) return value;
  }
  throw Error(concat("[evaluation] there is no metric '", name, "'."));
}

InputNormalization input_normalization(const Model& model) {
  return {.mean = model.normalization().input_mean, .scale = model.normalization().input_scale};
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
      result.targets.set(i, std::max(batch.classes[i], 0));
    }
  } else {
    if (loss == Loss::binary_cross_entropy) require_binary(batch);
    result.targets = batch.y;
    result.classes = batch.classes;
    for (std::int32_t& padding : result.classes)
      padding = std::max(padding, 0);  // the op wants a class everywhere
  }
  return result;
}

Evaluation evaluate(const Experiment& experiment, const Model& model, SequenceOp& op, const Dataset& split,
                    ThreadPool& pool, const std::function<bool()>& stop_requested) {
  Evaluation evaluation;
  if (split.size() == 0) return evaluation;
  const std::vector<Tensor> weights = model.weights();
  const InputNormalization normalization = input_normalization(model);
  const std::int64_t rows = evaluation_batch(model, split.shape());
  Scores scores;
  for (std::int64_t first = 0; first < split.size(); first += rows) {
    if (stop_requested && stop_requested()) throw Interrupted("interrupted in an evaluation");
    const Batch batch =
        gather(split, indices_in_order(split, first, rows), model.dtype(), pool, normalization);
    const Tensor outputs = op.evaluate(weights, sequence_batch(batch, split.shape(), experiment.loss), pool);
    add_scores(scores, experiment.loss, outputs, batch);
  }
  evaluation.emplace_back("loss", loss_value(experiment.loss, scores));
  for (const std::string& name : experiment.metrics)
    evaluation.emplace_back(name, metric(name).value(scores));
  return evaluation;
}

}  // namespace lagtape
