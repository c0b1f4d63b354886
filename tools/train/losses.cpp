#include "lagtape/tools/train/losses.h"

#include <array>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr std::array kLosses = {
    LossEntry{Loss::mse, "mse", "mean squared error over all elements", "real targets",
              [](const DataShape& data) { return data.output > 0; }},
    LossEntry{Loss::huber, "huber", "squared error near 0, absolute error beyond delta: outliers count less",
              "real targets", [](const DataShape& data) { return data.output > 0; }},
    LossEntry{Loss::quantile, "quantile",
              "pinball loss of several quantiles at once, which are the bounds of intervals", "real targets",
              [](const DataShape& data) { return data.output > 0; }},
    LossEntry{Loss::esr, "esr",
              "error to signal ratio of sounds: squared errors divided by the batch's squared targets",
              "real targets at every step",
              [](const DataShape& data) { return data.output > 0 && data.every_step; }},
    LossEntry{Loss::dc, "dc", "squares of the sequences' mean errors divided by the batch's squared targets",
              "real targets at every step",
              [](const DataShape& data) { return data.output > 0 && data.every_step; }},
    LossEntry{Loss::cross_entropy, "cross_entropy", "mean softmax cross-entropy, with a logit for each class",
              "classes", [](const DataShape& data) { return data.classes > 1; }},
    LossEntry{
        Loss::binary_cross_entropy, "binary_cross_entropy", "mean sigmoid cross-entropy of a single logit",
        "two classes, or one number that is 0 or 1",
        [](const DataShape& data) { return data.classes == 2 || (data.classes == 0 && data.output == 1); }},
};

}  // namespace

std::span<const LossEntry> losses() { return kLosses; }

const LossEntry& entry_of(Loss loss) {
  for (const LossEntry& entry : kLosses) {
    if (entry.loss == loss) return entry;
  }
  throw Error("[losses] there is no loss.");
}

std::string mismatch(Loss loss, const DataShape& data) {
  const LossEntry& entry = entry_of(loss);
  return text_of(entry.name, " needs ", entry.targets, ". The data have ",
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
  const auto each = static_cast<std::size_t>(loss.outputs_of_target());
  Scaling scaling;
  for (std::size_t i = 0; i < of_targets.mean.size(); ++i) {
    scaling.mean.insert(scaling.mean.end(), each, of_targets.mean[i]);
    scaling.scale.insert(scaling.scale.end(), each, of_targets.scale[i]);
  }
  return scaling;
}

Normalization normalization_of_data(const Model& model) {
  const auto each = static_cast<std::size_t>(model.loss().outputs_of_target());
  const Scaling& of_outputs = model.normalization().output;
  Normalization normalization = {.input = model.normalization().input, .output = {}};
  for (std::size_t i = 0; i < of_outputs.mean.size(); i += each) {
    normalization.output.mean.push_back(of_outputs.mean[i]);
    normalization.output.scale.push_back(of_outputs.scale[i]);
  }
  return normalization;
}

}  // namespace lagtape
