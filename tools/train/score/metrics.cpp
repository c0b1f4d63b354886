#include "lagtape/tools/train/score/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

bool is_real(Loss loss) { return LossFunction(loss).is_real(); }
bool has_levels(Loss loss) { return LossFunction(loss).has_levels(); }
bool is_likelihood(Loss loss) { return loss_row(loss).distribution != nullptr; }
bool is_class(Loss loss) { return loss == Loss::cross_entropy || loss == Loss::binary_cross_entropy; }
bool is_one_of_many(Loss loss) { return loss == Loss::cross_entropy; }

using Element = ScoredElement;

double quotient(const Totals& t) { return t.sums[0] / t.sums[1]; }
double root_of_quotient(const Totals& t) { return std::sqrt(quotient(t)); }
/// From sums of a loss, of elements and of the terms of the loss.
double mean_over_terms(const Totals& t) { return quotient(t) / (t.sums[2] / t.sums[1]); }

void add_squared_error(Totals& t, const Element& e) { t.add(e.error * e.error, 1); }
void add_energies(Totals& t, const Element& e) { t.add(e.error * e.error, e.target * e.target); }
void add_likelihood(Totals& t, const Element& e) { t.add(e.likelihood, 1); }

void add_variances(Totals& t, const Element& e) {
  auto& [elements, sum, square] = t.row(e.column);
  t.add(e.error * e.error);
  elements += 1;
  sum += e.from_mean;
  square += e.from_mean * e.from_mean;
}

double variance_explained(const Totals& t) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  double total = 0;
  for (const auto& [elements, sum, square] : t.rows) {
    if (elements == 0) continue;
    const double squares = square - sum * sum / elements;
    // Equal numbers leave a rest of rounding errors, which may be negative and is not a variance.
    if (squares > kRounding * std::sqrt(elements) * square) total += squares;
  }
  return 1 - t.sums[0] / total;
}

/// Counts how often each class was the true one, the predicted one, and both.
void count_classes(Totals& t, const Element& e) {
  t.row(e.actual)[0] += 1;
  t.row(e.predicted)[1] += 1;
  if (e.actual == e.predicted) t.row(e.actual)[2] += 1;
}

/// The same; of one logit class 1 alone.
void count_scored_classes(Totals& t, const Element& e) {
  count_classes(t, e);
  if (e.is_logit()) t.row(0) = {};
}

double f1_of(const Totals::Sums& counts) { return 2 * counts[2] / (counts[0] + counts[1]); }

/// The mean over the classes that occur.
double mean_f1(const Totals& t) {
  double sum = 0, classes = 0;
  for (const Totals::Sums& counts : t.rows) {
    if (counts[0] + counts[1] == 0) continue;
    sum += f1_of(counts);
    classes += 1;
  }
  return sum / classes;
}

void add_ranks(Totals& t, const Element& e) {
  t.ranks.resize(e.odds.size());
  for (std::size_t i = 0; i < e.odds.size(); ++i)
    t.ranks[i].emplace_back(e.odds[i] / e.odds_sum,
                            e.actual == (e.is_logit() ? 1 : static_cast<std::int64_t>(i)));
}

/// The share of pairs of an element of the class and one of another in which the first has the larger
/// probability; equal ones count half.
double area_under_curve(Totals::Ranks ranks) {
  std::ranges::sort(ranks, {}, &std::pair<double, bool>::first);
  double below = 0, won = 0, members = 0;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first;
    double own = 0, other = 0;
    for (; end < ranks.size() && ranks[end].first == ranks[first].first; ++end)
      (ranks[end].second ? own : other) += 1;
    won += own * (below + other / 2);
    below += other;
    members += own;
    first = end;
  }
  return won / (members * below);
}

/// The mean over the classes that occur beside others.
double mean_area(const Totals& t) {
  double sum = 0, classes = 0;
  for (const Totals::Ranks& of_class : t.ranks) {
    const double area = area_under_curve(of_class);
    if (std::isnan(area)) continue;
    sum += area;
    classes += 1;
  }
  return sum / classes;
}

constexpr std::array kMetrics = {
    MetricEntry{"mse", "mean squared error over all elements, in squared units of the data", false, is_real,
                add_squared_error, quotient},
    MetricEntry{"rmse", "root of the mean squared error, in the units of the data", false, is_real,
                add_squared_error, root_of_quotient},
    MetricEntry{"nrmse", "root mean squared error divided by the root mean square of the targets", false,
                is_real, add_energies, root_of_quotient},
    MetricEntry{"esr", "error to signal ratio: squared errors divided by squared targets", false, is_real,
                add_energies, quotient},
    MetricEntry{"dc", "square of the mean error divided by the mean square of the targets", false, is_real,
                [](Totals& t, const Element& e) { t.add(e.error, 1, e.target * e.target); },
                [](const Totals& t) { return t.sums[0] * t.sums[0] / t.sums[1] / t.sums[2]; }},
    MetricEntry{"mae", "mean absolute error, in the units of the data", false, is_real,
                [](Totals& t, const Element& e) { t.add(std::abs(e.error), 1); }, quotient},
    MetricEntry{"mape", "mean of |error / target| over the targets that are not 0; 0.1 is 10 %", false,
                is_real,
                [](Totals& t, const Element& e) {
                  if (e.target != 0) t.add(std::abs(e.error / e.target), 1);
                },
                quotient},
    MetricEntry{"smape", "mean of 2 |error| / (|target| + |prediction|), from 0 to 2; 0.1 is 10 %", false,
                is_real,
                [](Totals& t, const Element& e) {
                  const double size = std::abs(e.target) + std::abs(e.target + e.error);
                  t.add(size > 0 ? 2 * std::abs(e.error) / size : 0, 1);
                },
                quotient},
    MetricEntry{
        "mase",
        "mean of |error| / the mean absolute error of the seasonal naive forecast in the series' training "
        "rows; below 1 is better than that forecast, one step ahead",
        false, is_real,
        [](Totals& t, const Element& e) {
          if (e.naive > 0) t.add(std::abs(e.error) / e.naive, 1);
        },
        quotient, true, MetricNeed::naive_errors},
    MetricEntry{
        "rmsse",
        "root of the mean of squared errors / the mean squared error of the seasonal naive forecast in the "
        "series' training rows",
        false, is_real,
        [](Totals& t, const Element& e) {
          if (e.naive_square > 0) t.add(e.error * e.error / e.naive_square, 1);
        },
        root_of_quotient, true, MetricNeed::naive_errors},
    MetricEntry{"r2", "share of the targets' variance that is explained: 1 is perfect, 0 their mean", true,
                is_real, add_variances, variance_explained},
    MetricEntry{"pinball", "mean pinball loss over all levels, in the units of the data", false, has_levels,
                [](Totals& t, const Element& e) { t.add(e.pinball, 1, e.levels); }, mean_over_terms, true,
                MetricNeed::quantiles},
    MetricEntry{
        "crps",
        "continuous ranked probability score, in the units of the data: of quantiles twice their mean "
        "pinball loss",
        false, has_levels, [](Totals& t, const Element& e) { t.add(e.crps, 1); }, quotient, true,
        MetricNeed::crps},
    MetricEntry{"nll", "mean negative log-likelihood of the targets in the units of the data, in nats", false,
                is_likelihood, add_likelihood, quotient},
    MetricEntry{
        "coverage",
        "share of targets between the lowest and the highest level; right when it is their difference", true,
        has_levels, [](Totals& t, const Element& e) { t.add(e.is_covered, 1); }, quotient, false,
        MetricNeed::quantiles},
    MetricEntry{"accuracy", "share of elements whose class is predicted correctly, from 0 to 1", true,
                is_class, [](Totals& t, const Element& e) { t.add(e.actual == e.predicted, 1); }, quotient},
    MetricEntry{"f1",
                "harmonic mean of precision and recall: of class 1 for one logit, else the mean over classes",
                true, is_class, count_scored_classes, mean_f1},
    MetricEntry{"auc", "area under the ROC curve, the mean over classes against all others", true, is_class,
                add_ranks, mean_area},
    MetricEntry{"top_5", "share of elements whose class is among the five largest logits", true,
                is_one_of_many, [](Totals& t, const Element& e) { t.add(e.larger < 5, 1); }, quotient},
    MetricEntry{"cross_entropy", "mean negative log-likelihood of the class, in nats", false, is_one_of_many,
                add_likelihood, quotient},
    MetricEntry{"bits_per_character", "mean negative log-likelihood of the class, in bits", false,
                is_one_of_many, add_likelihood,
                [](const Totals& t) { return quotient(t) / std::numbers::ln2; }},
    MetricEntry{"perplexity", "exponential of the mean negative log-likelihood of the class", false,
                is_one_of_many, add_likelihood, [](const Totals& t) { return std::exp(quotient(t)); }},
    MetricEntry{"binary_cross_entropy",
                "mean negative log-likelihood of the class under a single logit, in nats", false,
                [](Loss loss) { return loss == Loss::binary_cross_entropy; }, add_likelihood, quotient},
};

constexpr std::array kClassMetrics = {
    ClassMetricEntry{"f1_", "harmonic mean of precision and recall of one class", f1_of},
    ClassMetricEntry{"precision_", "share of one class's predictions that are right",
                     [](const Totals::Sums& counts) { return counts[2] / counts[1]; }},
    ClassMetricEntry{"recall_", "share of one class's elements that are predicted as such",
                     [](const Totals::Sums& counts) { return counts[2] / counts[0]; }},
};

/// The number of the class in a name like f1_12, without leading zeros.
std::optional<std::int64_t> class_in(std::string_view name, std::string_view stem) {
  constexpr std::size_t kMostDigits = 6;
  if (!name.starts_with(stem)) return std::nullopt;
  const std::string_view digits = name.substr(stem.size());
  if (digits.empty() || digits.size() > kMostDigits || (digits.size() > 1 && digits[0] == '0'))
    return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + (digit - '0');
  }
  return number;
}

/// The name of the class in a metric's name like f1[fault]; empty for others.
std::string_view class_name_in(std::string_view name, std::string_view stem) {
  stem.remove_suffix(1);
  if (!name.starts_with(stem) || !name.ends_with(']')) return {};
  name.remove_prefix(stem.size());
  return name.starts_with('[') ? name.substr(1, name.size() - 2) : std::string_view();
}

}  // namespace

std::string class_metric_name(const ClassMetricEntry& entry, std::string_view class_name) {
  return text_of(entry.stem.substr(0, entry.stem.size() - 1), "[", class_name, "]");
}

Accumulator mean_loss() {
  return {[](Totals& t, const Element& e) { t.add(e.loss, 1, e.terms); }, mean_over_terms};
}

std::span<const MetricEntry> metrics() { return kMetrics; }

std::span<const ClassMetricEntry> class_metrics() { return kClassMetrics; }

std::optional<Metric> find_metric(std::string_view name, std::span<const std::string> class_names) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.name == name)
      return Metric{
          entry.larger_is_better, entry.ranks_models, entry.need, entry.applies, {entry.add, entry.value}};
  }
  for (const ClassMetricEntry& entry : kClassMetrics) {
    std::int64_t of_class = class_in(name, entry.stem).value_or(-1);
    const std::string_view class_name = class_name_in(name, entry.stem);
    if (of_class < 0 && class_name.empty()) continue;
    if (const auto place = std::ranges::find(class_names, class_name); place != class_names.end())
      of_class = place - class_names.begin();
    const auto value = [&entry, of_class](const Totals& t) {
      return of_class >= 0 && of_class < std::ssize(t.rows)
                 ? entry.value(t.rows[static_cast<std::size_t>(of_class)])
                 : std::nan("");
    };
    return Metric{
        true, true, MetricNeed::nothing, is_class, {count_classes, value}, of_class, std::string(class_name)};
  }
  return std::nullopt;
}

bool is_rankable(bool larger_is_better, double value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return larger_is_better ? value > -kInfinity : value < kInfinity;  // false for NaN
}

bool is_better(bool larger_is_better, double value, double than) {
  if (!is_rankable(larger_is_better, value)) return false;
  return !is_rankable(larger_is_better, than) || (larger_is_better ? value > than : value < than);
}

Metric metric(std::string_view name, std::span<const std::string> class_names) {
  if (std::optional<Metric> found = find_metric(name, class_names)) return *std::move(found);
  throw InputError(unknown_name("metric", name, metric_names()));
}

std::vector<std::string> metric_names() { return metric_names(Loss::none); }

std::vector<std::string> metric_names(Loss loss) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : kMetrics)
    if (loss == Loss::none || entry.applies(loss)) names.emplace_back(entry.name);
  return names;
}

}  // namespace lagtape
