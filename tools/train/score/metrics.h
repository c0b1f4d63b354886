#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/ops/signal_loss.h"

namespace lagtape {

/// Sums over one number of all targets, in the user's units and relative to the mean that scales them.
struct TargetSums {
  double elements = 0, sum = 0, square = 0;
};

/// How often a class was the true one, the predicted one, and both.
struct ClassCounts {
  double actual = 0, predicted = 0, both = 0;
};

/// Sums in f64 over everything that a split scores. Every metric is computed from them. An element is one
/// real target number or one class. A sequence is summed on its own and added in the order of the split, so
/// that no bit depends on batch size or threads.
struct Scores {
  double elements = 0;
  double levels = 1;                     ///< outputs for each element
  double loss = 0;                       ///< the training loss: of normalised numbers, or in nats
  SignalSums signal;                     ///< esr and dc: the sums of the training loss in place of `loss`
  double esr_weight = 0, dc_weight = 0;  ///< theirs in the loss
  double likelihood = 0;  ///< negative log-likelihood of the classes, in nats; the loss without its settings
  double squared_error = 0;  ///< in the user's units, like squared_target and error
  double error = 0;          ///< the sum of errors with their signs
  double squared_target = 0;
  double correct = 0;            ///< number of classes told by the largest logit, or by the sign of one logit
  double in_top_5 = 0;           ///< number of classes among the five largest logits
  double absolute_error = 0;     ///< in the user's units
  double relative_error = 0;     ///< errors divided by targets, where these are not 0
  double relative_elements = 0;  ///< number of targets that are not 0
  double pinball = 0;            ///< of all levels, in the user's units
  double covered = 0;            ///< number of targets between the lowest and the highest level
  std::vector<TargetSums> columns = {};   ///< by number of a target
  std::vector<ClassCounts> classes = {};  ///< by class; 0 and 1 for one logit
  /// By class, the probabilities that elements were given, and whether they are of it; only with `keep_ranks`.
  std::vector<std::vector<std::pair<double, bool>>> ranks = {};
  bool keep_ranks = false;
  bool has_one_logit = false;
};

/// Adds a batch's sequences. outputs: [B, T, q] when every step is scored, else [B, q]; only a sequence's own
/// steps count. `scaling` is that of real targets. Errors of a loss with several levels are those of the level
/// nearest to the median. Throws InputError when the outputs do not fit
/// the batch's targets.
void add_scores(Scores& scores, const LossFunction& loss, const Tensor& outputs, const Batch& batch,
                const Scaling& scaling = {});

/// A metric that an experiment may name; the table has one row for each.
struct MetricEntry {
  std::string_view name;
  std::string_view summary;
  bool larger_is_better;
  bool (*applies)(Loss loss);
  double (*value)(const Scores& scores);
  bool tells_best = true;  ///< whether the better of two models has the better value
};

/// mse, rmse, nrmse, esr, dc, mae, mape, r2 for real targets, pinball and coverage for their quantiles; accuracy, f1, auc,
/// top_5, cross_entropy, bits_per_character, perplexity,
/// binary_cross_entropy for classes.
std::span<const MetricEntry> metrics();

/// A metric of one class by its number: f1_0, f1_1, ..., and the same for precision and recall.
struct ClassMetricEntry {
  std::string_view stem;  ///< its name without the number
  std::string_view summary;
  double (*value)(const ClassCounts& counts);
};
std::span<const ClassMetricEntry> class_metrics();

/// A metric by its name: of a table's row, or of one class.
struct Metric {
  bool larger_is_better, tells_best;
  bool (*applies)(Loss loss);
  std::function<double(const Scores&)> value;
  std::int64_t of_class = -1;  ///< the number of its class
};

/// Whether a value says how good a model is: it is a number, and not infinitely bad.
bool says_how_good(bool larger_is_better, double value);

/// Empty when there is no such metric.
std::optional<Metric> find_metric(std::string_view name);
/// Throws InputError with the nearest name.
Metric metric(std::string_view name);
/// Names of the metrics that go with a loss, or of all.
std::vector<std::string> metric_names();
std::vector<std::string> metric_names(Loss loss);

/// The mean loss of an element, the same as in training; that of esr and dc is the loss of all sequences as one batch.
double loss_value(const Scores& scores);

}  // namespace lagtape
