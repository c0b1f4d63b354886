#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/tools/train/score/accumulator.h"

namespace lagtape {

/// The data that a metric needs from elements in addition to the usual data.
enum class MetricNeed : std::uint8_t { nothing, naive_errors, quantiles, crps };

/// A metric that an experiment may select; the table has one row for each.
struct MetricEntry {
  std::string_view name;
  std::string_view summary;
  bool larger_is_better;
  bool (*applies)(Loss loss);
  Accumulator::Add add;
  double (*value)(const Totals& totals);
  bool ranks_models = true;  ///< which of two models is better
  MetricNeed need = MetricNeed::nothing;
};
std::span<const MetricEntry> metrics();

/// A metric of one class, given by number or name: f1_0, f1_1, ..., f1[fault], and the same for precision and
/// recall.
struct ClassMetricEntry {
  std::string_view stem;  ///< its name without the number: "f1_"
  std::string_view summary;
  /// From how often it is the true class, the predicted class, and both.
  double (*value)(const Totals::Sums& counts);
};
std::span<const ClassMetricEntry> class_metrics();

/// A metric by name: of a table row, or of one class.
struct Metric {
  bool larger_is_better, ranks_models;
  MetricNeed need;
  bool (*applies)(Loss loss);
  Accumulator accumulator;      ///< value for no elements
  std::int64_t of_class = -1;   ///< the number of its class; -1: no class, or one that the data lack
  std::string class_name = {};  ///< name of the class, if it refers to one

  bool is_of_class() const { return of_class >= 0 || !class_name.empty(); }
};
/// The metric of a class under the class's name in the data: "f1[fault]".
std::string class_metric_name(const ClassMetricEntry& entry, std::string_view class_name);

/// The mean training loss of an element.
Accumulator mean_loss();

/// Whether a model can be ranked by a value: it is not NaN or infinitely bad.
bool is_rankable(bool larger_is_better, double value);
/// Whether a value can be ranked and ranks above the other.
bool is_better(bool larger_is_better, double value, double than);

/// Empty if there is no such metric. One for a class that is not among the names is NaN.
std::optional<Metric> find_metric(std::string_view name, std::span<const std::string> class_names = {});
/// Throws InputError with the nearest name.
Metric metric(std::string_view name, std::span<const std::string> class_names = {});
/// Names of the metrics for a loss, or of all metrics.
std::vector<std::string> metric_names();
std::vector<std::string> metric_names(Loss loss);

}  // namespace lagtape
