#include "lagtape/ops/recurrence/step/loss_function.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

std::string error_of_levels(const std::vector<double>& levels) {
  constexpr std::size_t kMost = 99;
  if (levels.empty() || levels.size() > kMost)
    return text_of("levels: expected 1 to ", kMost, " levels, got ", levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!(levels[i] > 0 && levels[i] < 1))
      return text_of("levels: expected numbers above 0 and below 1, got ", levels[i]);
    if (i > 0 && levels[i] <= levels[i - 1])
      return text_of("levels: expected rising numbers, got ", levels[i], " after ", levels[i - 1]);
  }
  return {};
}

std::string error_of_classes(const LossOptions& options) {
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing < 1))
    return text_of("label_smoothing: expected a number from 0 on and below 1, got ", smoothing);
  for (const double weight : options.class_weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      return text_of("class_weights: expected numbers >= 0, got ", weight);
  if (!options.class_weights.empty() && std::ranges::max(options.class_weights) == 0)
    return "class_weights: expected a number above 0, all are 0";
  return {};
}

std::string error_of_signal(const LossOptions& options) {
  if (!(options.pre_emphasis >= 0 && options.pre_emphasis <= 1))
    return text_of("pre_emphasis: expected a number from 0 to 1, got ", options.pre_emphasis);
  if (!(options.dc >= 0 && std::isfinite(options.dc)))
    return text_of("dc: expected a number >= 0, got ", options.dc);
  return {};
}

}  // namespace

std::int64_t LossFunction::outputs_of_target() const {
  if (distribution() != nullptr) return std::ssize(distribution()->parameters);
  return kind == Loss::quantile ? std::ssize(options.levels) : 1;
}

std::vector<std::string> LossFunction::output_names() const {
  std::vector<std::string> names;
  if (distribution() != nullptr)
    for (const DistributionParameter& parameter : distribution()->parameters)
      names.emplace_back(parameter.name);
  for (std::size_t l = 0; kind == Loss::quantile && l < options.levels.size(); ++l)
    names.push_back(text_of("q", options.levels[l]));
  return names;
}

std::vector<double> LossFunction::quantiles(std::span<const double> outputs) const {
  std::vector<double> values(outputs.begin(), outputs.end());
  if (distribution() == nullptr) return values;
  values.clear();
  for (const double level : options.levels) values.push_back(distribution()->quantile(outputs.data(), level));
  return values;
}

std::int64_t LossFunction::middle() const {
  if (kind != Loss::quantile) return 0;
  const auto nearest =
      std::ranges::min_element(options.levels, {}, [](double level) { return std::abs(level - 0.5); });
  return nearest - options.levels.begin();
}

std::string LossFunction::error() const {
  if (kind == Loss::huber && !(options.delta > 0 && std::isfinite(options.delta)))
    return text_of("delta: expected a number above 0, got ", options.delta);
  for (const double scale : options.scale)
    if (!(scale > 0 && std::isfinite(scale))) return text_of("scale: expected numbers above 0, got ", scale);
  if (has_levels()) return error_of_levels(options.levels);
  if (is_signal()) return error_of_signal(options);
  return is_real() || kind == Loss::none ? "" : error_of_classes(options);
}

}  // namespace lagtape
