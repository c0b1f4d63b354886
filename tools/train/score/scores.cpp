#include "lagtape/tools/train/score/scores.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/real_losses.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape {

namespace {

/// The values of distributions that the requested metrics need.
struct WantedScores {
  bool quantiles = false, crps = false;
};

/// Adds the scores of a target's distribution to those of its prediction. Parameters and `y` are normalized numbers.
void add_distribution(ScoredElement& element, std::span<const double> parameters, double y,
                      const LossFunction& loss, double scale, const WantedScores& wanted) {
  const TargetDistribution& distribution = *loss.distribution();
  element.likelihood = element.loss + (distribution.of_counts ? 0 : std::log(scale));
  if (wanted.crps) element.crps = scale * distribution.crps(parameters.data(), y);
  if (!wanted.quantiles) return;
  const std::vector<double>& levels = loss.options.levels;
  const std::vector<double> quantiles = loss.quantiles(parameters);
  element.levels = static_cast<double>(levels.size());
  element.pinball = scale * quantile_row(quantiles.data(), &y, 1, levels.data(), std::ssize(levels), 1,
                                         static_cast<double*>(nullptr));
  element.is_covered = quantiles.front() <= y && y <= quantiles.back();
}

/// Completes the score of a count, whose parameters are given in units of so many counts.
template <class T>
ScoredElement count_element(ScoredElement element, std::span<const T> outputs, double unit,
                            const LossFunction& loss, const WantedScores& wanted) {
  double parameters[TargetDistribution::kMostParameters];
  std::ranges::copy(outputs, parameters);
  element.target = std::round(element.target);
  element.loss = count_likelihood(*loss.distribution(), parameters, element.target, unit, nullptr);
  add_distribution(element, std::span(parameters, outputs.size()), element.target, loss, 1, wanted);
  return element;
}

/// Calls `take` with each number of a target; `outputs` and `y` point to those of one step.
template <class T>
void for_each_number(const T* outputs, const T* y, std::int64_t numbers, const LossFunction& loss,
                     const Scaling& scaling, const WantedScores& wanted, const auto& take) {
  const std::int64_t each = loss.outputs_of_target();
  for (std::int64_t i = 0; i < numbers; ++i, outputs += each) {
    if (std::isnan(y[i])) continue;
    const auto feature = static_cast<std::size_t>(i);
    const T* z = outputs + loss.middle();
    const double error = static_cast<double>(*z) - static_cast<double>(y[i]);
    ScoredElement element{.terms = static_cast<double>(loss.terms_of_target()),
                          .error = scaling.restored_difference(error, feature),
                          .target = scaling.restored(y[i], feature),
                          .from_mean = scaling.restored_difference(y[i], feature),
                          .column = i};
    if (loss.distribution() != nullptr && loss.distribution()->of_counts && !scaling.empty()) {
      take(count_element(element, std::span(outputs, static_cast<std::size_t>(each)),
                         scaling.restored_difference(1, feature), loss, wanted));
      continue;
    }
    if (!loss.is_signal())
      with_real_loss<T>(loss, 1, [&](auto row) { element.loss = row(outputs, y + i, 1, nullptr); });
    if (loss == Loss::quantile) {
      element.levels = element.terms;
      element.pinball = scaling.restored_difference(element.loss, feature);
      element.crps = 2 * element.pinball / element.levels;
      element.is_covered = outputs[0] <= y[i] && y[i] <= outputs[each - 1];
    } else if (loss.distribution() != nullptr) {
      double parameters[TargetDistribution::kMostParameters];
      std::copy_n(outputs, each, parameters);
      add_distribution(element, std::span(parameters).first(static_cast<std::size_t>(each)), y[i], loss,
                       scaling.restored_difference(1, feature), wanted);
    }
    take(element);
  }
}

/// The score of one class among q logits; `odds` is where their exponentials are kept.
template <class T>
ScoredElement class_element(const T* z, std::int64_t q, std::int64_t target, const LossFunction& loss,
                            std::vector<double>& odds) {
  const T* largest = std::max_element(z, z + q);
  odds.resize(static_cast<std::size_t>(q));
  double sum = 0;
  for (std::int64_t i = 0; i < q; ++i)
    sum += odds[static_cast<std::size_t>(i)] =
        std::exp(static_cast<double>(z[i]) - static_cast<double>(*largest));
  ScoredElement element{
      .actual = target,
      .predicted = largest - z,
      .larger = std::count_if(z, z + q, [&](T other) { return other > z[target]; }),
      .likelihood = std::log(sum) + static_cast<double>(*largest) - static_cast<double>(z[target]),
      .odds = odds,
      .odds_sum = sum};
  element.loss = loss.is_adjusted() ? smoothed_cross_entropy_row(
                                          z, q, static_cast<std::int32_t>(target), loss.class_weight(target),
                                          loss.options.label_smoothing, 1, static_cast<T*>(nullptr))
                                    : element.likelihood;
  return element;
}

/// The score of one logit against a target of 0 or 1.
template <class T>
ScoredElement logit_element(const T* z, double target, const LossFunction& loss, std::vector<double>& odds) {
  const double logit = z[0];
  const std::int32_t given = target > 0.5 ? 1 : 0;
  odds.assign(1, logit);
  ScoredElement element{
      .actual = given,
      .predicted = logit > 0 ? 1 : 0,
      .likelihood = std::max(logit, 0.0) - logit * target + std::log1p(std::exp(-std::abs(logit))),
      .odds = odds};
  element.loss = loss.is_adjusted() ? smoothed_binary_cross_entropy_row(z, given, loss.class_weight(given),
                                                                        loss.options.label_smoothing, 1,
                                                                        static_cast<T*>(nullptr))
                                    : element.likelihood;
  return element;
}

/// Calls `take` with what is scored at a place of the batch's targets; `z` points to its q outputs.
template <class T>
void for_each_element(const T* z, std::int64_t q, const Batch& batch, std::int64_t place,
                      const LossFunction& loss, const Scaling& scaling, const WantedScores& wanted,
                      std::vector<double>& odds, const auto& take) {
  if (loss.is_real()) {
    const std::int64_t numbers = q / loss.outputs_of_target();
    for_each_number(z, batch.y.values<T>().data() + place * numbers, numbers, loss, scaling, wanted, take);
    return;
  }
  const double target = batch.y.empty() ? batch.classes[place] : batch.y.at(place);
  if (target < 0 || std::isnan(target)) return;
  take(loss == Loss::cross_entropy ? class_element(z, q, static_cast<std::int64_t>(target), loss, odds)
                                   : logit_element(z, target, loss, odds));
}

void check_shapes(const LossFunction& loss, const Tensor& outputs, const Batch& batch) {
  const std::int64_t rows = batch.size();
  const bool every_step = outputs.rank() == 3;
  const std::int64_t steps = every_step ? outputs.size(1) : 1;
  const std::int64_t q = outputs.size(-1);
  const std::int64_t targets =
      batch.y.empty() ? static_cast<std::int64_t>(batch.classes.size()) : batch.y.numel() / batch.y.size(-1);
  const bool fits = loss.is_real() ? !batch.y.empty() && batch.y.size(-1) * loss.outputs_of_target() == q
                                   : (loss == Loss::cross_entropy ? batch.y.empty() : q == 1);
  if (outputs.size(0) != rows || targets != rows * steps || !fits) {
    throw InputError(
        {.op = "metrics"}, Rule::shape, text_of("the outputs do not fit the targets of ", rows, " sequences"),
        text_of("outputs ", to_string(outputs.shape()), ", targets ",
                batch.y.empty() ? text_of("of ", targets, " classes") : to_string(batch.y.shape()), ", loss ",
                name_of(loss)));
  }
}

}  // namespace

Scores::Scores(const LossFunction& loss, std::span<const std::string> metrics, Scaling scaling,
               std::span<const std::string> class_names, const Dataset* split)
    : loss_(loss), scaling_(std::move(scaling)), split_(split), accumulators_{mean_loss()} {
  for (const std::string& name : metrics) {
    const Metric known = metric(name, class_names);
    needs_quantiles_ = needs_quantiles_ || known.need == MetricNeed::quantiles;
    needs_crps_ = needs_crps_ || known.need == MetricNeed::crps;
    accumulators_.push_back(known.accumulator);
  }
}

/// Adds the errors and energies of one sequence, as the losses esr and dc sum them.
template <class T>
void Scores::add_signal(const T* outputs, const T* targets, std::int64_t steps, std::int64_t q) {
  SignalSums sequence;
  std::vector<double> errors(static_cast<std::size_t>(steps));
  for (std::int64_t j = 0; j < q; ++j) {
    for (std::int64_t n = 0; n < steps; ++n)
      errors[static_cast<std::size_t>(n)] =
          static_cast<double>(outputs[n * q + j]) - static_cast<double>(targets[n * q + j]);
    add_target_energy(sequence, targets + j, steps, q, loss_.options.pre_emphasis);
    add_errors(sequence, errors.data(), 1, targets + j, steps, q, loss_.options.pre_emphasis);
  }
  signal_.add(sequence);
}

template <class T>
void Scores::add_rows(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end) {
  const std::int64_t q = outputs.size(-1), stride = outputs.rank() == 3 ? outputs.size(1) : 1;
  const T* z = outputs.values<T>().data();
  std::vector<double> odds;
  std::span<const NaiveErrors> naive;
  const auto take = [&](ScoredElement element) {
    if (!naive.empty()) {
      const NaiveErrors& of_target = naive[static_cast<std::size_t>(element.column)];
      element.naive = of_target.absolute;
      element.naive_square = of_target.squared;
    }
    for (Accumulator& accumulator : accumulators_) accumulator.add(element);
  };
  for (std::int64_t row = first; row < end; ++row) {
    if (split_ != nullptr) naive = split_->naive_errors(batch.ids[static_cast<std::size_t>(row)]);
    const Normalization* own = batch.own.empty() ? nullptr : batch.own[static_cast<std::size_t>(row)];
    const Scaling& scaling = own == nullptr ? scaling_ : own->output;
    const std::int64_t steps = stride == 1 ? 1 : batch.lengths[row];
    for (std::int64_t place = row * stride; place < row * stride + steps; ++place)
      for_each_element(z + place * q, q, batch, place, loss_, scaling,
                       {.quantiles = needs_quantiles_, .crps = needs_crps_}, odds, take);
    if (loss_.is_signal())
      add_signal(z + row * stride * q, batch.y.values<T>().data() + row * stride * q, steps, q);
    for (Accumulator& accumulator : accumulators_) accumulator.end_sequence();
  }
}

void Scores::add(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end) {
  check_shapes(loss_, outputs, batch);
  if (loss_.is_real()) scaling_.check(batch.y.size(-1), "output");
  with_scalar(outputs.dtype(), [&]<class T>() { add_rows<T>(outputs, batch, first, end); });
}

void Scores::merge(const Scores& other) {
  signal_.add(other.signal_);
  for (std::size_t i = 0; i < accumulators_.size(); ++i) accumulators_[i].merge(other.accumulators_[i]);
}

double Scores::loss() const {
  if (!loss_.is_signal()) return accumulators_.front().value();
  const SignalFactors factors = signal_factors(signal_, loss_.esr_weight(), loss_.dc_weight());
  return factors.error * signal_.error + factors.bias * signal_.bias;
}

std::vector<double> Scores::values() const {
  std::vector<double> values;
  for (const Accumulator& accumulator : std::span(accumulators_).subspan(1))
    values.push_back(accumulator.value());
  return values;
}

}  // namespace lagtape
