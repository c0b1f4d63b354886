#include "lagtape/tools/train/warnings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/data/series/series_options.h"
#include "lagtape/ops/recurrence/step/gradient_paths.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"

namespace lagtape {

namespace {

/// Adds a text for each column at whose mean f32 numbers are further apart than a hundredth of its scale.
template <class NameOf>
void add_rounding(std::vector<std::string>& warnings, const Scaling& scaling, const NameOf& name_of) {
  for (std::size_t i = 0; i < scaling.mean.size(); ++i) {
    const double mean = scaling.mean[i], scale = scaling.scale[i];
    const float rounded = std::abs(static_cast<float>(mean));
    const float next = std::nextafter(rounded, std::numeric_limits<float>::infinity());
    const float spacing = std::max(next - rounded, std::numeric_limits<float>::min());
    const bool constant = scale == 1 && static_cast<float>(mean) == mean;  // a constant column loses nothing
    if (constant || spacing <= scale / 100) continue;
    warnings.push_back(text_of(name_of(static_cast<std::int64_t>(i)), " has mean ", mean, " and scale ",
                               scale, ", where f32 numbers are ", spacing,
                               " apart; \"precision\": \"f64\" in \"train\" keeps the differences"));
  }
}

}  // namespace

ColumnTexts::ColumnTexts(const Task& task, const Json& data) {
  if (task.fresh || task.train->size() == 0) return;
  const SequenceLabels labels = labels_of(*task.train, 0);
  for (std::size_t i = 0; i < labels.inputs.size(); ++i)
    inputs_.push_back(name_of_input(labels.inputs[i].name, labels.shifts[i]));
  for (const Quantity& target : labels.targets) targets_.push_back(target.name);
  if (value_at(data, "/task") != "sequences") return;
  for (const Json& column : value_at(data, "/input")) inputs_.push_back(column.get<std::string>());
  const std::size_t columns = inputs_.size();
  for (std::size_t i = 0; i < columns; ++i) inputs_.push_back(name_of_mask(inputs_[i]));
  targets_ = {value_at(data, "/target").get<std::string>()};
}

std::string ColumnTexts::text(const char* role, const std::vector<std::string>& names, std::int64_t i) {
  const bool has_name = i < std::ssize(names) && !names[static_cast<std::size_t>(i)].empty();
  return has_name ? text_of(role, quote(names[static_cast<std::size_t>(i)], 40)) : text_of(role, i);
}

std::vector<std::string> lag_warnings(const Model& model, const DataShape& data) {
  std::vector<std::string> warnings;
  const std::vector<LayerSummary> layers = model.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t lag = layers[i].largest_lag();
    // A lag of nearly a whole sequence reaches back to the start, which has no weights to learn.
    if (lag <= 1 ? lag <= data.length : lag + 1 < data.length) continue;
    warnings.push_back(text_of("layer ", i, " (", layers[i].name, ") looks back ", lag,
                               " steps; the sequences have ", data.length));
  }
  return warnings;
}

std::vector<std::string> rounding_warnings(const Model& model, const ColumnTexts& names) {
  std::vector<std::string> warnings;
  if (model.dtype() == Dtype::f64) return warnings;
  const Normalization normalization = normalization_of_data(model);
  add_rounding(warnings, normalization.input, [&](std::int64_t i) { return names.input(i); });
  add_rounding(warnings, normalization.output, [&](std::int64_t i) { return names.target(i); });
  return warnings;
}

std::vector<std::string> grammar_warnings(const Model& model) {
  std::vector<std::string> warnings;
  const Json document = document_of(model), *const cells = document.find_pointer("/cells");
  if (cells == nullptr || !cells->is_object()) return warnings;
  for (const auto& [name, cell] : cells->items())
    if (cell.is_object() && cell.contains("grammar") && cell["grammar"] == Json(1))
      warnings.push_back(text_of(
          "cell ", quote(name),
          " is read by grammar 1: a vector [g] fits the columns of [g, n], not its rows as in NumPy"));
  return warnings;
}

std::vector<std::string> retraining_warnings(const std::filesystem::path& weights,
                                             const std::filesystem::path& experiment) {
  std::vector<std::string> warnings;
  std::error_code error;
  if (!std::filesystem::exists(weights, error)) return warnings;
  try {
    if (grammar_warnings(Model::load(weights)).empty()) return warnings;
    const Json document = read_commented_json(experiment);
    const Json* const cells = document.find_pointer("/cells");
    if (cells == nullptr || !cells->is_object()) return warnings;
    for (const auto& [name, cell] : cells->items())
      if (cell.is_object() && !cell.contains("grammar"))
        warnings.push_back(text_of("cell ", quote(name),
                                   " was trained by grammar 1, where a vector [g] fits the columns of [g, "
                                   "n], and is read by grammar 2, as in "
                                   "NumPy, now; \"grammar\": 1 in the cell keeps the old rules"));
  } catch (const Error&) {  // what is wrong with the files is said where they are needed
  }
  return warnings;
}

std::vector<std::string> gradient_warnings(const Model& model) {
  std::vector<std::string> warnings;
  const std::vector<LayerSummary> layers = model.layers();
  bool reaches = true;  // whether the loss's gradient reaches the layer's output
  for (std::size_t i = layers.size(); i-- > 0 && reaches;) {
    std::vector<std::string> lost, ends;
    bool input = layers[i].steps.empty();
    for (const StepProgram& step : layers[i].steps) {
      const GradientPaths paths = gradient_paths(step);
      for (const std::string& name : paths.lost) lost.push_back(quote(name));
      input |= paths.input;
      for (const std::string& end : paths.ends)
        ends.push_back(text_of("/cells", pointer_part(layers[i].name), end));
    }
    const std::string cure = text_of(
        ": every way from there to the output leads through a comparison, floor or sign, whose gradient is 0",
        ends.empty() ? "" : ": ", listed(ends), ". ",
        "spike(u, 'fast_sigmoid') is a comparison of u with 0 that has one");
    if (!lost.empty())
      warnings.push_back(text_of("layer ", i, " (", layers[i].name, ") does not train ", listed(lost), cure));
    if (!input && i > 0) {
      warnings.push_back(text_of("layer ", i, " (", layers[i].name, ") trains no layer below it", cure));
      reaches = false;
    }
  }
  return warnings;
}

std::vector<std::string> training_warnings(const Trainer& trainer, const Model& model, const Task& task) {
  constexpr std::int64_t kEnough = 10;
  std::vector<std::string> warnings = lag_warnings(model, task.shape);
  for (std::string& warning : rounding_warnings(model, ColumnTexts(task, data_of(model))))
    warnings.push_back(std::move(warning));
  for (std::string& warning : gradient_warnings(model)) warnings.push_back(std::move(warning));
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
