#include "lagtape/tools/train/score/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lagtape/core/error.h"
#include "lagtape/ops/loss_rows.h"

namespace lagtape {

namespace {

bool is_real(Loss loss) { return LossFunction(loss).is_real(); }
bool has_levels(Loss loss) { return loss == Loss::quantile; }
bool is_class(Loss loss) { return loss == Loss::cross_entropy || loss == Loss::binary_cross_entropy; }

double variance_explained(const Scores& s) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  double total = 0;
  for (const TargetSums& column : s.columns) {
    if (column.elements == 0) continue;
    const double squares = column.square - column.sum * column.sum / column.elements;
    // Equal numbers leave a rest of rounding errors, which may be negative and is no variance.
    if (squares > kRounding * std::sqrt(column.elements) * column.square) total += squares;
  }
  return 1 - s.squared_error / total;
}

double f1_of(const ClassCounts& counts) { return 2 * counts.both / (counts.actual + counts.predicted); }

/// For one logit that of class 1, else the mean over the classes that occur.
double mean_f1(const Scores& s) {
  if (s.classes.size() == 2 && s.has_one_logit) return f1_of(s.classes[1]);
  double sum = 0, classes = 0;
  for (const ClassCounts& counts : s.classes) {
    if (counts.actual + counts.predicted == 0) continue;
    sum += f1_of(counts);
    classes += 1;
  }
  return sum / classes;
}

/// The share of pairs of an element of the class and one of another in which the first has the larger
/// probability; equal ones count half.
double area_under_curve(std::vector<std::pair<double, bool>> ranks) {
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
double mean_area(const Scores& s) {
  double sum = 0, classes = 0;
  for (const auto& ranks : s.ranks) {
    const double area = area_under_curve(ranks);
    if (std::isnan(area)) continue;
    sum += area;
    classes += 1;
  }
  return sum / classes;
}

constexpr std::array kMetrics = {
    MetricEntry{"mse", "mean squared error over all elements, in squared units of the data", false, is_real,
                [](const Scores& s) { return s.squared_error / s.elements; }},
    MetricEntry{"rmse", "root of the mean squared error, in the units of the data", false, is_real,
                [](const Scores& s) { return std::sqrt(s.squared_error / s.elements); }},
    MetricEntry{"nrmse", "root mean squared error divided by the root mean square of the targets", false,
                is_real, [](const Scores& s) { return std::sqrt(s.squared_error / s.squared_target); }},
    MetricEntry{"esr", "error to signal ratio: squared errors divided by squared targets", false, is_real,
                [](const Scores& s) { return s.squared_error / s.squared_target; }},
    MetricEntry{"dc", "square of the mean error divided by the mean square of the targets", false, is_real,
                [](const Scores& s) { return s.error * s.error / s.elements / s.squared_target; }},
    MetricEntry{"mae", "mean absolute error, in the units of the data", false, is_real,
                [](const Scores& s) { return s.absolute_error / s.elements; }},
    MetricEntry{"mape", "mean of |error / target| over the targets that are not 0; 0.1 is 10 %", false,
                is_real, [](const Scores& s) { return s.relative_error / s.relative_elements; }},
    MetricEntry{"r2", "share of the targets' variance that is explained: 1 is perfect, 0 their mean", true,
                is_real, variance_explained},
    MetricEntry{"pinball", "mean pinball loss over all levels, in the units of the data", false, has_levels,
                [](const Scores& s) { return s.pinball / s.elements / s.levels; }},
    MetricEntry{
        "coverage",
        "share of targets between the lowest and the highest level; right when it is their difference", true,
        has_levels, [](const Scores& s) { return s.covered / s.elements; }, false},
    MetricEntry{"accuracy", "share of elements whose class is predicted correctly, from 0 to 1", true,
                is_class, [](const Scores& s) { return s.correct / s.elements; }},
    MetricEntry{"f1",
                "harmonic mean of precision and recall: of class 1 for one logit, else the mean over classes",
                true, is_class, mean_f1},
    MetricEntry{"auc", "area under the ROC curve, the mean over classes against all others", true, is_class,
                mean_area},
    MetricEntry{"top_5", "share of elements whose class is among the five largest logits", true,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return s.in_top_5 / s.elements; }},
    MetricEntry{"cross_entropy", "mean negative log-likelihood of the class, in nats", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return s.likelihood / s.elements; }},
    MetricEntry{"bits_per_character", "mean negative log-likelihood of the class, in bits", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return s.likelihood / s.elements / std::numbers::ln2; }},
    MetricEntry{"perplexity", "exponential of the mean negative log-likelihood of the class", false,
                [](Loss loss) { return loss == Loss::cross_entropy; },
                [](const Scores& s) { return std::exp(s.likelihood / s.elements); }},
    MetricEntry{"binary_cross_entropy",
                "mean negative log-likelihood of the class under a single logit, in nats", false,
                [](Loss loss) { return loss == Loss::binary_cross_entropy; },
                [](const Scores& s) { return s.likelihood / s.elements; }},
};

constexpr std::array kClassMetrics = {
    ClassMetricEntry{"f1_", "harmonic mean of precision and recall of one class", f1_of},
    ClassMetricEntry{"precision_", "share of one class's predictions that are right",
                     [](const ClassCounts& counts) { return counts.both / counts.predicted; }},
    ClassMetricEntry{"recall_", "share of one class's elements that are predicted as such",
                     [](const ClassCounts& counts) { return counts.both / counts.actual; }},
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

// Each function scores one target: `z` points to its q outputs, `place` is its position in the batch's targets.
// Sums of a sequence go to `sequence`, those by column or class to `all`.

/// How the outputs are scored: the loss, and the scaling of real targets.
struct Scoring {
  const LossFunction& loss;
  const Scaling& scaling;
};

/// Adds the losses of all levels of one number of a target: `z` points to the outputs for them.
template <class T>
void score_levels(Scores& sequence, const T* z, const T* y, std::size_t feature, const Scoring& scoring) {
  const std::vector<double>& levels = scoring.loss.options.levels;
  const double loss = quantile_row(z, y, 1, levels.data(), std::ssize(levels), 1, static_cast<T*>(nullptr));
  sequence.loss += loss;
  sequence.pinball += scoring.scaling.restored_difference(loss, feature);
  sequence.covered += z[0] <= *y && *y <= z[levels.size() - 1] ? 1 : 0;
}

template <class T>
void score_real(Scores& sequence, Scores& all, const T* outputs, std::int64_t width, const Batch& batch,
                std::int64_t place, const Scoring& scoring) {
  const LossFunction& loss = scoring.loss;
  const Scaling& scaling = scoring.scaling;
  const std::int64_t each = loss.outputs_of_target(), q = width / each;
  const T* y = batch.y.values<T>().data() + place * q;
  const T* z = outputs + loss.middle();
  all.columns.resize(static_cast<std::size_t>(q));
  all.levels = static_cast<double>(each);
  for (std::int64_t i = 0; i < q; ++i, z += each) {
    if (std::isnan(y[i])) continue;
    const auto feature = static_cast<std::size_t>(i);
    const double error = static_cast<double>(*z) - static_cast<double>(y[i]);
    const double own_error = scaling.restored_difference(error, feature);
    const double own_target = scaling.restored(y[i], feature);
    if (loss == Loss::mse) sequence.loss += error * error;
    if (loss == Loss::huber)
      sequence.loss += huber_row(z, y + i, 1, loss.options.delta, 1, static_cast<T*>(nullptr));
    if (loss == Loss::quantile) score_levels(sequence, outputs + i * each, y + i, feature, scoring);
    sequence.squared_error += own_error * own_error;
    sequence.error += own_error;
    sequence.squared_target += own_target * own_target;
    sequence.absolute_error += std::abs(own_error);
    if (own_target != 0) {
      sequence.relative_error += std::abs(own_error / own_target);
      sequence.relative_elements += 1;
    }
    const double from_mean = scaling.restored_difference(y[i], feature);
    TargetSums& column = all.columns[feature];
    column.elements += 1;
    column.sum += from_mean;
    column.square += from_mean * from_mean;
    sequence.elements += 1;
  }
}

void count_class(Scores& all, std::int64_t classes, std::int64_t actual, std::int64_t predicted) {
  all.classes.resize(static_cast<std::size_t>(classes));
  all.classes[static_cast<std::size_t>(actual)].actual += 1;
  all.classes[static_cast<std::size_t>(predicted)].predicted += 1;
  if (actual == predicted) all.classes[static_cast<std::size_t>(actual)].both += 1;
}

template <class T>
void score_class(Scores& sequence, Scores& all, const T* z, std::int64_t q, const Batch& batch,
                 std::int64_t place, const Scoring& scoring) {
  const std::int64_t target = batch.classes[place];
  if (target < 0) return;
  const T* largest = std::max_element(z, z + q);
  double sum = 0;
  for (std::int64_t i = 0; i < q; ++i) {
    sum += std::exp(static_cast<double>(z[i]) - static_cast<double>(*largest));
  }
  const double likelihood = std::log(sum) + static_cast<double>(*largest) - static_cast<double>(z[target]);
  sequence.likelihood += likelihood;
  const LossFunction& loss = scoring.loss;
  sequence.loss +=
      loss.is_adjusted()
          ? smoothed_cross_entropy_row(z, q, static_cast<std::int32_t>(target), loss.class_weight(target),
                                       loss.options.label_smoothing, 1, static_cast<T*>(nullptr))
          : likelihood;
  sequence.correct += largest - z == target ? 1 : 0;
  sequence.in_top_5 += std::count_if(z, z + q, [&](T other) { return other > z[target]; }) < 5 ? 1 : 0;
  sequence.elements += 1;
  count_class(all, q, target, largest - z);
  if (!all.keep_ranks) return;
  all.ranks.resize(static_cast<std::size_t>(q));
  for (std::int64_t i = 0; i < q; ++i)
    all.ranks[static_cast<std::size_t>(i)].emplace_back(
        std::exp(static_cast<double>(z[i]) - static_cast<double>(*largest)) / sum, i == target);
}

template <class T>
void score_logit(Scores& sequence, Scores& all, const T* z, std::int64_t, const Batch& batch,
                 std::int64_t place, const Scoring& scoring) {
  const double target = batch.y.empty() ? batch.classes[place] : batch.y.at(place);
  if (target < 0 || std::isnan(target)) return;
  const double logit = z[0];
  const double likelihood = std::max(logit, 0.0) - logit * target + std::log1p(std::exp(-std::abs(logit)));
  sequence.likelihood += likelihood;
  const LossFunction& loss = scoring.loss;
  const std::int32_t given = target > 0.5 ? 1 : 0;
  sequence.loss += loss.is_adjusted() ? smoothed_binary_cross_entropy_row(z, given, loss.class_weight(given),
                                                                          loss.options.label_smoothing, 1,
                                                                          static_cast<T*>(nullptr))
                                      : likelihood;
  sequence.correct += (logit > 0) == (target > 0.5) ? 1 : 0;
  sequence.elements += 1;
  all.has_one_logit = true;
  count_class(all, 2, target > 0.5 ? 1 : 0, logit > 0 ? 1 : 0);
  if (!all.keep_ranks) return;
  all.ranks.resize(1);
  all.ranks[0].emplace_back(logit, target > 0.5);
}

void check_shapes(const LossFunction& loss, const Tensor& outputs, const Batch& batch) {
  const std::int64_t rows = batch.size();
  const bool every_step = outputs.rank() == 3;
  const std::int64_t steps = every_step ? outputs.size(1) : 1;
  const std::int64_t q = outputs.size(-1);
  const std::int64_t targets =
      batch.y.empty() ? static_cast<std::int64_t>(batch.classes.size()) : batch.y.numel() / batch.y.size(-1);
  const bool fits = is_real(loss) ? !batch.y.empty() && batch.y.size(-1) * loss.outputs_of_target() == q
                                  : (loss == Loss::cross_entropy ? batch.y.empty() : q == 1);
  if (outputs.size(0) != rows || targets != rows * steps || !fits) {
    throw InputError(
        text_of("[metrics] the outputs do not fit the targets of ", rows, " sequences. Got outputs ",
                to_string(outputs.shape()), ", targets ",
                batch.y.empty() ? text_of("of ", targets, " classes") : to_string(batch.y.shape()), ", loss ",
                name_of(loss), "."));
  }
}

/// Adds the errors and energies of one sequence, as the losses esr and dc sum them.
template <class T>
void add_signal(Scores& all, const T* outputs, const T* targets, std::int64_t steps, std::int64_t q,
                const LossFunction& loss) {
  all.esr_weight = loss.esr_weight();
  all.dc_weight = loss.dc_weight();
  SignalSums sequence;
  std::vector<double> errors(static_cast<std::size_t>(steps));
  for (std::int64_t j = 0; j < q; ++j) {
    for (std::int64_t n = 0; n < steps; ++n)
      errors[static_cast<std::size_t>(n)] =
          static_cast<double>(outputs[n * q + j]) - static_cast<double>(targets[n * q + j]);
    add_target_energy(sequence, targets + j, steps, q, loss.options.pre_emphasis);
    add_errors(sequence, errors.data(), 1, targets + j, steps, q, loss.options.pre_emphasis);
  }
  all.signal.add(sequence);
}

template <class T>
void add_rows(Scores& scores, const Tensor& outputs, const Batch& batch, const Scoring& scoring) {
  const LossFunction& loss = scoring.loss;
  const auto score = is_real(loss)                 ? score_real<T>
                     : loss == Loss::cross_entropy ? score_class<T>
                                                   : score_logit<T>;
  const std::int64_t q = outputs.size(-1);
  const std::int64_t stride = outputs.rank() == 3 ? outputs.size(1) : 1;
  const T* z = outputs.values<T>().data();
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    const std::int64_t steps = stride == 1 ? 1 : batch.lengths[row];
    Scores sequence;
    for (std::int64_t n = 0; n < steps; ++n) {
      const std::int64_t place = row * stride + n;
      score(sequence, scores, z + place * q, q, batch, place, scoring);
    }
    if (loss.is_signal())
      add_signal(scores, z + row * stride * q, batch.y.values<T>().data() + row * stride * q, steps, q, loss);
    scores.elements += sequence.elements;
    scores.squared_error += sequence.squared_error;
    scores.error += sequence.error;
    scores.squared_target += sequence.squared_target;
    scores.loss += sequence.loss;
    scores.likelihood += sequence.likelihood;
    scores.pinball += sequence.pinball;
    scores.covered += sequence.covered;
    scores.correct += sequence.correct;
    scores.in_top_5 += sequence.in_top_5;
    scores.absolute_error += sequence.absolute_error;
    scores.relative_error += sequence.relative_error;
    scores.relative_elements += sequence.relative_elements;
  }
}

}  // namespace

void add_scores(Scores& scores, const LossFunction& loss, const Tensor& outputs, const Batch& batch,
                const Scaling& scaling) {
  check_shapes(loss, outputs, batch);
  if (is_real(loss)) scaling.check(batch.y.size(-1), "output");
  const Scoring scoring = {loss, scaling};
  with_scalar(outputs.dtype(), [&]<class T>() { add_rows<T>(scores, outputs, batch, scoring); });
}

std::span<const MetricEntry> metrics() { return kMetrics; }

std::span<const ClassMetricEntry> class_metrics() { return kClassMetrics; }

std::optional<Metric> find_metric(std::string_view name) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.name == name)
      return Metric{entry.larger_is_better, entry.tells_best, entry.applies, entry.value};
  }
  for (const ClassMetricEntry& entry : kClassMetrics) {
    const std::optional<std::int64_t> of_class = class_in(name, entry.stem);
    if (!of_class) continue;
    const auto value = [&entry, place = static_cast<std::size_t>(*of_class)](const Scores& scores) {
      return place < scores.classes.size() ? entry.value(scores.classes[place]) : std::nan("");
    };
    return Metric{true, true, is_class, value, *of_class};
  }
  return std::nullopt;
}

bool says_how_good(bool larger_is_better, double value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return larger_is_better ? value > -kInfinity : value < kInfinity;  // false for NaN
}

Metric metric(std::string_view name) {
  if (std::optional<Metric> found = find_metric(name)) return *std::move(found);
  throw InputError(unknown_name("metric", name, metric_names()));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : kMetrics) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> metric_names(Loss loss) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : kMetrics) {
    if (entry.applies(loss)) names.emplace_back(entry.name);
  }
  return names;
}

double loss_value(const Scores& scores) {
  if (scores.esr_weight == 0 && scores.dc_weight == 0) return scores.loss / scores.elements / scores.levels;
  const SignalFactors factors = signal_factors(scores.signal, scores.esr_weight, scores.dc_weight);
  return factors.error * scores.signal.error + factors.bias * scores.signal.bias;
}

}  // namespace lagtape
