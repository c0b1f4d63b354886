#include "lagtape/tools/train/warnings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/train/losses.h"

namespace lagtape {

namespace {

/// Adds a text for each column at whose mean f32 numbers are further apart than a hundredth of its scale.
void add_rounding(std::vector<std::string>& warnings, const Scaling& scaling, const char* what) {
  for (std::size_t i = 0; i < scaling.mean.size(); ++i) {
    const double mean = scaling.mean[i], scale = scaling.scale[i];
    const float rounded = std::abs(static_cast<float>(mean));
    const float next = std::nextafter(rounded, std::numeric_limits<float>::infinity());
    const float spacing = std::max(next - rounded, std::numeric_limits<float>::min());
    const bool constant = scale == 1 && static_cast<float>(mean) == mean;  // a constant column loses nothing
    if (constant || spacing <= scale / 100) continue;
    warnings.push_back(text_of(what, " ", i, " has mean ", mean, " and scale ", scale,
                               ", where f32 numbers are ", spacing,
                               " apart; \"precision\": \"f64\" in \"train\" keeps the differences"));
  }
}

}  // namespace

std::vector<std::string> lag_warnings(const Model& model, const DataShape& data) {
  std::vector<std::string> warnings;
  const std::vector<LayerSummary> layers = model.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t lag = layers[i].largest_lag();
    // What lies a lag of nearly a whole sequence back is the start, which has no weights to learn by.
    if (lag <= 1 ? lag <= data.length : lag + 1 < data.length) continue;
    warnings.push_back(text_of("layer ", i, " (", layers[i].name, ") looks back ", lag,
                               " steps; the sequences have ", data.length));
  }
  return warnings;
}

std::vector<std::string> rounding_warnings(const Model& model) {
  std::vector<std::string> warnings;
  if (model.dtype() == Dtype::f64) return warnings;
  const Normalization normalization = normalization_of_data(model);
  add_rounding(warnings, normalization.input, "input");
  add_rounding(warnings, normalization.output, "target");
  return warnings;
}

std::vector<std::string> training_warnings(const Trainer& trainer, const Model& model, const Task& task) {
  constexpr std::int64_t kEnough = 10;
  std::vector<std::string> warnings = lag_warnings(model, task.shape);
  for (std::string& warning : rounding_warnings(model)) warnings.push_back(std::move(warning));
  const bool of_series = task.train->size() > 0 && !task.train->naive_errors(0).empty();
  if (of_series && reads_every_step(model.at()) && !model.evaluation_chain().obstacle().empty())
    warnings.push_back(
        "the model reads each sequence as a whole before its outputs at every step, and so rows after those "
        "that "
        "are predicted: scores and predictions are better than a forecast can be. A read-out at "
        "\"last_step\" "
        "reads none of them");
  const LossFunction& loss = model.loss();
  if (loss == Loss::quantile && loss.options.levels[static_cast<std::size_t>(loss.middle())] != 0.5) {
    warnings.push_back(text_of(
        "the loss has no level 0.5: the prediction, and metrics such as rmse, are those of the level ",
        loss.options.levels[static_cast<std::size_t>(loss.middle())], ", which is the nearest"));
  }
  if (!task.fresh && trainer.updates_per_epoch() < kEnough) {
    warnings.push_back(text_of(
        "an epoch has ", trainer.updates_per_epoch(), " updates, from ", task.train->size(),
        " sequences; a smaller train.batch, or for recordings a smaller data.stride, ", "makes more"));
  }
  return warnings;
}

}  // namespace lagtape
