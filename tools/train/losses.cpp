#include "lagtape/tools/train/losses.h"

#include <array>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr std::array kLosses = {
    LossEntry{Loss::mse, "mse", "mean squared error over all elements", "real targets",
              [](const DataShape& data) { return data.output > 0; }},
    LossEntry{Loss::cross_entropy, "cross_entropy", "mean softmax cross-entropy, with a logit for each class",
              "classes", [](const DataShape& data) { return data.classes > 1; }},
    LossEntry{
        Loss::binary_cross_entropy, "binary_cross_entropy", "mean sigmoid cross-entropy of a single logit",
        "two classes, or one number that is 0 or 1",
        [](const DataShape& data) { return data.classes == 2 || (data.classes == 0 && data.output == 1); }},
};

}  // namespace

std::span<const LossEntry> losses() { return kLosses; }

std::optional<Loss> loss_named(std::string_view name) {
  for (const LossEntry& entry : kLosses) {
    if (entry.name == name) return entry.loss;
  }
  return std::nullopt;
}

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
                 " a target.");
}

Loss default_loss(const DataShape& data) { return data.classes > 0 ? Loss::cross_entropy : Loss::mse; }

std::int64_t output_width(Loss loss, const DataShape& data) {
  return loss == Loss::binary_cross_entropy ? 1 : loss == Loss::cross_entropy ? data.classes : data.output;
}

}  // namespace lagtape
