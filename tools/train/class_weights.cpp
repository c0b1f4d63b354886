#include "lagtape/tools/train/class_weights.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/evaluation.h"

namespace lagtape {

namespace {

/// How many targets of each class the sequences have.
std::vector<double> class_counts(const Dataset& set, Loss loss, ThreadPool& pool) {
  constexpr std::int64_t kAtOnce = 256;
  const DataShape& shape = set.shape();
  std::vector<double> counts(
      static_cast<std::size_t>(loss == Loss::binary_cross_entropy ? 2 : shape.classes));
  for (std::int64_t first = 0; first < set.size(); first += kAtOnce) {
    const Batch data = gather(set, indices_in_order(set, first, kAtOnce), Dtype::f32, pool);
    const SequenceBatch batch = sequence_batch(data, shape, loss);
    const std::int64_t stride = shape.every_step ? data.x.size(1) : 1;
    for (std::int64_t row = 0; row < data.size(); ++row) {
      const std::int64_t steps = shape.every_step ? data.lengths[static_cast<std::size_t>(row)] : 1;
      for (std::int64_t place = row * stride; place < row * stride + steps; ++place) {
        const double target = loss == Loss::binary_cross_entropy
                                  ? batch.targets.at(place)
                                  : batch.classes[static_cast<std::size_t>(place)];
        if (target >= 0)
          counts[static_cast<std::size_t>(target)] += 1;  // neither -1 nor NaN, which are missing
      }
    }
  }
  return counts;
}

}  // namespace

Experiment with_class_weights(const Experiment& experiment, const Task& task, ThreadPool& pool) {
  if (!experiment.balanced_classes) return experiment;
  if (task.fresh)
    throw InputError(
        {.file = experiment.where, .pointer = "/loss/class_weights"}, Rule::not_supported,
        "\"balanced\" counts the classes of the training set, which never ends here. Give numbers.");
  std::vector<double> weights = class_counts(*task.train, experiment.loss, pool);
  double targets = 0, classes = 0;
  for (const double count : weights) {
    targets += count;
    classes += count > 0 ? 1 : 0;
  }
  for (double& weight : weights) weight = weight > 0 ? targets / (classes * weight) : 1;
  Experiment result = experiment;
  result.loss.options.class_weights = std::move(weights);
  result.model.loss = result.loss;
  result.fitted = nullptr;  // made with the loss of before
  return result;
}

}  // namespace lagtape
