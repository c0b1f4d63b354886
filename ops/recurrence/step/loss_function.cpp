#include "lagtape/ops/recurrence/step/loss_function.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

using Wrong = std::optional<Problem>;

Problem wrong(const char* setting, const std::string& expected, const std::string& found) {
  return {.place = {.pointer = text_of("/", setting)},
          .rule = Rule::out_of_range,
          .found = found,
          .expected = expected};
}

Wrong error_of_levels(const std::vector<double>& levels) {
  constexpr std::size_t kMost = 99;
  if (levels.empty() || levels.size() > kMost)
    return wrong("levels", text_of("1 to ", kMost, " levels"), text_of(levels.size()));
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!(levels[i] > 0 && levels[i] < 1))
      return wrong("levels", "numbers above 0 and below 1", text_of(levels[i]));
    if (i > 0 && levels[i] <= levels[i - 1])
      return wrong("levels", "rising numbers", text_of(levels[i], " after ", levels[i - 1]));
  }
  return {};
}

Wrong error_of_classes(const LossOptions& options) {
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing < 1))
    return wrong("label_smoothing", "a number from 0 on and below 1", text_of(smoothing));
  for (const double weight : options.class_weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      return wrong("class_weights", "numbers >= 0", text_of(weight));
  if (!options.class_weights.empty() && std::ranges::max(options.class_weights) == 0)
    return wrong("class_weights", "a number above 0", "zeros alone");
  return {};
}

Wrong error_of_signal(const LossOptions& options) {
  if (!(options.pre_emphasis >= 0 && options.pre_emphasis <= 1))
    return wrong("pre_emphasis", "a number from 0 to 1", text_of(options.pre_emphasis));
  if (!(options.dc >= 0 && std::isfinite(options.dc)))
    return wrong("dc", "a number >= 0", text_of(options.dc));
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

std::optional<Problem> LossFunction::error() const {
  if (kind == Loss::huber && !(options.delta > 0 && std::isfinite(options.delta)))
    return wrong("delta", "a number above 0", text_of(options.delta));
  for (const double scale : options.scale)
    if (!(scale > 0 && std::isfinite(scale))) return wrong("scale", "numbers above 0", text_of(scale));
  if (has_levels()) return error_of_levels(options.levels);
  if (is_signal()) return error_of_signal(options);
  return is_real() || kind == Loss::none ? std::nullopt : error_of_classes(options);
}

}  // namespace lagtape
