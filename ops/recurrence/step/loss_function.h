#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/ops/distribution.h"

namespace lagtape {

/// The losses that are sums over sequences: the mean over everything scored, which is all elements for losses
/// of real numbers (for quantile, at all levels), and all targets for cross_entropy (class indices) and
/// binary_cross_entropy (one logit, targets 0 or 1). Only esr and dc, for signals at every step, are not means:
/// they divide the energy of the errors, or of their mean, by the energy of the batch's targets.
enum class Loss : std::uint8_t {
  none,
  mse,
  mae,
  huber,
  quantile,
  gaussian,
  student_t,
  negative_binomial,
  esr,
  dc,
  cross_entropy,
  binary_cross_entropy
};

/// The targets of a loss: real numbers, signals of real numbers at every step, a class index, or a number that
/// is 0 or 1.
enum class LossTargets : std::uint8_t { none, real, signal, classes, bit };

struct LossRow {
  Loss loss;
  std::string_view name;
  LossTargets targets;
  std::string_view summary;
  const TargetDistribution* distribution =
      nullptr;  ///< the distribution of the targets, if the loss is its likelihood
};

/// One row per loss, in the order of Loss.
inline constexpr LossRow kLossRows[] = {
    {Loss::none, "none", LossTargets::none, ""},
    {Loss::mse, "mse", LossTargets::real, "mean squared error over all elements"},
    {Loss::mae, "mae", LossTargets::real, "mean absolute error: the prediction is the median"},
    {Loss::huber, "huber", LossTargets::real,
     "squared error near 0, absolute error beyond delta: outliers count less"},
    {Loss::quantile, "quantile", LossTargets::real,
     "pinball loss of several quantiles at once, which are the bounds of intervals"},
    {Loss::gaussian, "gaussian", LossTargets::real,
     "negative log-likelihood of normal distributions, whose mean and scale the model gives", &kGaussian},
    {Loss::student_t, "student_t", LossTargets::real,
     "negative log-likelihood of Student's t: mean, scale and degrees of freedom, for targets with outliers",
     &kStudentT},
    {Loss::negative_binomial, "negative_binomial", LossTargets::real,
     "negative log-likelihood of counts 0, 1, 2, ...: mean and dispersion (variance = mean + dispersion "
     "mean^2)",
     &kNegativeBinomial},
    {Loss::esr, "esr", LossTargets::signal,
     "error to signal ratio of sounds: squared errors divided by the batch's squared targets"},
    {Loss::dc, "dc", LossTargets::signal,
     "squares of the sequences' mean errors divided by the batch's squared targets"},
    {Loss::cross_entropy, "cross_entropy", LossTargets::classes,
     "mean softmax cross-entropy, with a logit for each class"},
    {Loss::binary_cross_entropy, "binary_cross_entropy", LossTargets::bit,
     "mean sigmoid cross-entropy of a single logit"},
};
static_assert([] {
  for (std::size_t i = 0; i < std::size(kLossRows); ++i)
    if (kLossRows[i].loss != static_cast<Loss>(i)) return false;
  return true;
}());

constexpr const LossRow& loss_row(Loss loss) { return kLossRows[static_cast<std::size_t>(loss)]; }
constexpr std::string_view name_of(Loss loss) { return loss_row(loss).name; }
/// The losses that a model can have.
constexpr std::span<const LossRow> losses() { return std::span(kLossRows).subspan(1); }

/// The settings of a loss. Settings of other losses are not read.
struct LossOptions {
  /// huber: the error above which the loss grows linearly, in units of the (normalized) targets.
  double delta = 1;
  /// quantile: the quantile levels, ascending, each between 0 and 1. A model has an output for each level of
  /// each target: all levels of the first target in order, then those of the next. Distributions: the levels of
  /// quantiles in predictions and metrics.
  std::vector<double> levels = {0.1, 0.5, 0.9};
  /// negative_binomial: the unit of each target's mean; empty: 1.
  std::vector<double> scale = {};
  /// The cross-entropies: the factor of each class in the loss of its targets, at least 0; empty: 1 for all.
  std::vector<double> class_weights = {};
  /// The cross-entropies: the probability that is moved from the target's class and spread equally over all
  /// classes (Szegedy et al. 2016, section 7), at least 0 and below 1.
  double label_smoothing = 0;
  /// esr: the fraction c of y[n-1] that is subtracted from y[n], in outputs and targets, from 0 to 1; 0: none.
  double pre_emphasis = 0;
  /// esr: the factor with which the loss dc is added; 0: not added.
  double dc = 0;

  bool operator==(const LossOptions&) const = default;
};

/// A loss with its settings. A Loss converts to one with the default settings.
struct LossFunction {
  Loss kind = Loss::none;
  LossOptions options = {};

  LossFunction(Loss loss = Loss::none, LossOptions settings = {})  // NOLINT: made of a Loss without a word
      : kind(loss), options(std::move(settings)) {}
  operator Loss() const { return kind; }  // NOLINT: compared with a Loss, or switched over

  /// The distribution whose parameters the outputs are; null for other losses.
  const TargetDistribution* distribution() const { return loss_row(kind).distribution; }
  /// The number of model outputs for each number of a target: one, or one per level or parameter.
  std::int64_t outputs_of_target() const;
  /// The names of these outputs: "q0.1", "mean", ...; none if there is only one.
  std::vector<std::string> output_names() const;
  /// The number of terms that each number of a target contributes to the mean that is the loss.
  std::int64_t terms_of_target() const { return kind == Loss::quantile ? outputs_of_target() : 1; }
  /// Whether a target's quantiles at the levels follow from its outputs, and those quantiles.
  bool has_levels() const { return kind == Loss::quantile || distribution() != nullptr; }
  std::vector<double> quantiles(std::span<const double> outputs) const;
  /// Whether targets are real numbers of any size.
  bool is_real() const { return loss_row(kind).targets == LossTargets::real || is_signal(); }
  /// Whether the loss scores a sequence as a signal.
  bool is_signal() const { return loss_row(kind).targets == LossTargets::signal; }
  double esr_weight() const { return kind == Loss::esr ? 1 : 0; }
  double dc_weight() const { return kind == Loss::dc ? 1 : options.dc; }
  /// Whether a cross-entropy has class weights or smoothed labels.
  bool is_adjusted() const { return !options.class_weights.empty() || options.label_smoothing != 0; }
  double class_weight(std::int64_t target) const {
    return options.class_weights.empty() ? 1 : options.class_weights[static_cast<std::size_t>(target)];
  }
  /// The position of the prediction among a target's outputs: the level nearest to the median, or the mean.
  std::int64_t middle() const;

  /// The error of a setting, whose name is in the pointer; none when there is none.
  std::optional<Problem> error() const;
};

}  // namespace lagtape
