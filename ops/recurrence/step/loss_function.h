#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagtape {

/// The losses that are sums over sequences: the mean over everything scored, which is all elements for mse, huber
/// and quantile (for quantile at all levels), and all targets for cross_entropy (class indices) and
/// binary_cross_entropy (one logit, targets 0 or 1). Only esr and dc, of signals at every step, are no means: the energy
/// of the errors, or of their mean, is divided by that of the batch's targets.
enum class Loss : std::uint8_t { none, mse, cross_entropy, binary_cross_entropy, huber, quantile, esr, dc };

std::string_view name_of(Loss loss);

/// The settings of a loss. Those of other losses are not read.
struct LossOptions {
  /// huber: the error from which on the loss grows linearly, in units of the (normalised) targets.
  double delta = 1;
  /// quantile: the levels of the quantiles, rising, each between 0 and 1. A model has an output for each level of
  /// each target: all levels of the first target in their order, then those of the next.
  std::vector<double> levels = {0.1, 0.5, 0.9};
  /// The cross-entropies: the factor of each class in the loss of its targets, 0 or more; empty: 1 for all.
  std::vector<double> class_weights = {};
  /// The cross-entropies: the probability that is taken from the target's class and given to all classes alike
  /// (Szegedy et al. 2016, section 7), 0 or more and below 1.
  double label_smoothing = 0;
  /// esr: the share c of y[n-1] that is taken from y[n], in outputs and targets, from 0 to 1; 0: none.
  double pre_emphasis = 0;
  /// esr: what the loss dc is multiplied with and added; 0: not at all.
  double dc = 0;

  bool operator==(const LossOptions&) const = default;
};

/// A loss with its settings. A loss alone stands for itself with the settings of above.
struct LossFunction {
  Loss kind = Loss::none;
  LossOptions options = {};

  LossFunction(Loss loss = Loss::none, LossOptions settings = {})  // NOLINT: made of a Loss without a word
      : kind(loss), options(std::move(settings)) {}
  operator Loss() const { return kind; }  // NOLINT: compared with a Loss, or switched over

  /// The number of outputs that a model has for each number of a target.
  std::int64_t outputs_of_target() const;
  /// Whether targets are real numbers of any size.
  bool is_real() const {
    return kind == Loss::mse || kind == Loss::huber || kind == Loss::quantile || is_signal();
  }
  /// Whether a sequence is scored as a signal.
  bool is_signal() const { return kind == Loss::esr || kind == Loss::dc; }
  double esr_weight() const { return kind == Loss::esr ? 1 : 0; }
  double dc_weight() const { return kind == Loss::dc ? 1 : options.dc; }
  /// Whether a cross-entropy has class weights or smoothed labels.
  bool is_adjusted() const { return !options.class_weights.empty() || options.label_smoothing != 0; }
  double class_weight(std::int64_t target) const {
    return options.class_weights.empty() ? 1 : options.class_weights[static_cast<std::size_t>(target)];
  }
  /// The place of the level that is nearest to the median, among the outputs of a target.
  std::int64_t middle() const;

  /// Says what is wrong with a setting, after its name and ": "; empty when nothing is.
  std::string error() const;
};

}  // namespace lagtape
