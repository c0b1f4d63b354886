#include "lagtape/tools/train/losses.h"

#include "lagtape/core/error.h"

namespace lagtape {

std::string_view targets_of(Loss loss) {
  switch (loss_row(loss).targets) {
    case LossTargets::none: return "no targets";
    case LossTargets::real: return "real targets";
    case LossTargets::signal: return "real targets at every step";
    case LossTargets::classes: return "classes";
    case LossTargets::bit: return "two classes, or one number that is 0 or 1";
  }
  return {};
}

bool loss_fits(Loss loss, const DataShape& data) {
  switch (loss_row(loss).targets) {
    case LossTargets::none: return true;
    case LossTargets::real: return data.output > 0;
    case LossTargets::signal: return data.output > 0 && data.every_step;
    case LossTargets::classes: return data.classes > 1;
    case LossTargets::bit: return data.classes == 2 || (data.classes == 0 && data.output == 1);
  }
  return false;
}

std::string mismatch(Loss loss, const DataShape& data) {
  return text_of(name_of(loss), " needs ", targets_of(loss), ". The data have ",
                 data.classes > 0 ? text_of(data.classes, " classes") : text_of(data.output, " real numbers"),
                 " a target",
                 LossFunction(loss).is_signal() && !data.every_step ? " of a whole sequence." : ".");
}

Loss default_loss(const DataShape& data) { return data.classes > 0 ? Loss::cross_entropy : Loss::mse; }

std::int64_t output_width(const LossFunction& loss, const DataShape& data) {
  if (loss == Loss::binary_cross_entropy) return 1;
  return loss == Loss::cross_entropy ? data.classes : data.output * loss.outputs_of_target();
}

Scaling scaling_of_outputs(const LossFunction& loss, const Scaling& of_targets) {
  const TargetDistribution* distribution = loss.distribution();
  Scaling scaling;
  for (std::size_t i = 0; i < of_targets.mean.size(); ++i) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(loss.outputs_of_target()); ++k) {
      const DistributionParameter* parameter = distribution ? &distribution->parameters[k] : nullptr;
      scaling.mean.push_back(parameter && !parameter->moves ? 0 : of_targets.mean[i]);
      scaling.scale.push_back(parameter && !parameter->scales ? 1 : of_targets.scale[i]);
    }
  }
  return scaling;
}

Normalization normalization_of_data(const Normalization& of_model, const LossFunction& loss) {
  const auto each = static_cast<std::size_t>(loss.outputs_of_target());
  const Scaling& of_outputs = of_model.output;
  Normalization normalization = {.input = of_model.input, .output = {}};
  for (std::size_t i = 0; i < of_outputs.mean.size(); i += each) {
    normalization.output.mean.push_back(of_outputs.mean[i]);
    normalization.output.scale.push_back(of_outputs.scale[i]);
  }
  return normalization;
}

Normalization normalization_of_model(const Normalization& of_data, const LossFunction& loss) {
  return {.input = of_data.input, .output = scaling_of_outputs(loss, of_data.output)};
}

Normalization normalization_of_data(const Model& model) {
  return normalization_of_data(model.normalization(), model.loss());
}

SeriesNormalizations series_of_data(const Model& model) {
  SeriesNormalizations series;
  for (const auto& [name, of] : model.series()) series.emplace(name, normalization_of_data(of, model.loss()));
  return series;
}

}  // namespace lagtape
