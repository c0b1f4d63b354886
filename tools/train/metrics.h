#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// Sums in f64 over everything that a split scores. Every metric is computed from them. An element is one
/// real target number or one class. A sequence is summed on its own and added in the order of the split, so
/// that no bit depends on batch size or threads.
struct Scores {
  double elements = 0;
  double loss = 0;           ///< the training loss: squared error of normalised numbers, or nats
  double squared_error = 0;  ///< in the user's units, like squared_target
  double squared_target = 0;
  double correct = 0;  ///< number of classes told by the largest logit, or by the sign of one logit
};

/// Adds a batch's sequences. outputs: [B, T, q] when every step is scored, else [B, q]; only a sequence's own
/// steps count. `scaling` is that of outputs and real targets. Throws InputError when the outputs do not fit
/// the batch's targets.
void add_scores(Scores& scores, Loss loss, const Tensor& outputs, const Batch& batch,
                const Scaling& scaling = {});

/// A metric that an experiment may name; the table has one row for each.
struct MetricEntry {
  std::string_view name;
  std::string_view summary;
  bool larger_is_better;
  bool (*applies)(Loss loss);
  double (*value)(const Scores& scores);
};

/// mse, rmse, nrmse for real targets; accuracy, cross_entropy, bits_per_character, perplexity,
/// binary_cross_entropy for classes.
std::span<const MetricEntry> metrics();
/// Throws InputError with the nearest name.
const MetricEntry& metric(std::string_view name);
/// Names of the metrics that go with a loss, or of all.
std::vector<std::string> metric_names();
std::vector<std::string> metric_names(Loss loss);

/// The mean loss of an element, the same as in training.
double loss_value(const Scores& scores);

}  // namespace lagtape
