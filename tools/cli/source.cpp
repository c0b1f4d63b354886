#include "lagtape/tools/cli/source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_file.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

namespace {

/// The first byte of a file that is not blank, or 0.
char first_byte(const std::string& path) {
  char byte = 0;
  std::ifstream(path) >> byte;
  return byte;
}

/// Warns of each column at whose mean f32 numbers are further apart than a hundredth of its scale.
void warn_of_rounding(const Scaling& scaling, const char* what) {
  for (std::size_t i = 0; i < scaling.mean.size(); ++i) {
    const double mean = scaling.mean[i], scale = scaling.scale[i];
    const float rounded = std::abs(static_cast<float>(mean));
    const float next = std::nextafter(rounded, std::numeric_limits<float>::infinity());
    const float spacing = std::max(next - rounded, std::numeric_limits<float>::min());
    const bool constant = scale == 1 && static_cast<float>(mean) == mean;  // a constant column loses nothing
    if (constant || spacing <= scale / 100) continue;
    std::fputs(text_of("warning: ", what, " ", i, " has mean ", mean, " and scale ", scale,
                       ", where f32 numbers are ", spacing,
                       " apart; \"precision\": \"f64\" in \"train\" keeps the differences\n")
                   .c_str(),
               stderr);
  }
}

/// Stands for the experiment of a model that was made in C++.
Experiment without_data(const Model& model, const std::string& path) {
  const auto load = [path](ThreadPool&) -> Task {
    throw InputError(text_of(path, ": this model was made in C++ and names no data."));
  };
  Experiment experiment;
  experiment.name = std::filesystem::path(path).stem().string();
  experiment.where = path;
  experiment.model = model.definition();
  experiment.loss = model.loss();
  experiment.train.precision = model.dtype();
  experiment.load_task = experiment.load_to_score = load;
  experiment.json = model.experiment();
  return experiment;
}

}  // namespace

bool is_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ||
         std::filesystem::path(path).extension() == ".safetensors";
}

namespace {

/// The weights file of a run folder, or the file itself. Throws InputError that says what the path is instead.
ModelFile read_model_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const RunFolder run(path);
    if (!std::filesystem::exists(run.weights_file(), error)) {
      throw InputError(text_of(path, run.can_resume()
                                         ? ": the run has no weights.safetensors yet; its first "
                                           "evaluation writes it."
                                         : ": is not a run folder, since it has no weights.safetensors."));
    }
  } else if (!is_run(path) && first_byte(path) == '{') {
    throw InputError(text_of(path, ": expected a run folder or a .safetensors file. This looks like an ",
                             "experiment: train it first."));
  }
  return ModelFile::read(path);
}

}  // namespace

Model load_model(const std::string& path) { return read_model_file(path).model(); }

void warn_of_lags(const Model& model, const DataShape& data) {
  const std::vector<LayerSummary> layers = model.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t lag = layers[i].largest_lag();
    if (lag <= data.length) continue;
    std::fputs(text_of("warning: layer ", i, " (", layers[i].name, ") looks back ", lag,
                       " steps; the sequences have ", data.length, "\n")
                   .c_str(),
               stderr);
  }
}

void warn_of_rounding(const Model& model) {
  if (model.dtype() == Dtype::f64) return;
  warn_of_rounding(model.normalization().input, "input");
  warn_of_rounding(model.normalization().output, "target");
}

void announce_vectors(const KnownWords& words) {
  std::fputs(text_of("vectors: ", words.known, " of ", words.all,
                     " words begin with a vector of the file, the others with random numbers\n")
                 .c_str(),
             stderr);
}

namespace {

/// The model of a file, as the experiment in it was read; fitted to the widths that the file states.
Model model_of(ModelFile file, const Experiment& experiment) {
  const DataWidths& widths = file.widths();
  const FittedModel* known = experiment.fitted.get();
  if (known != nullptr && known->input_width() == widths.input && known->classes == widths.classes &&
      (widths.classes > 0 || known->output_width() == widths.output))
    return std::move(file).model(*known);
  JsonErrors errors;
  FittedModel fitted = fit(experiment.model, widths, errors);
  errors.raise(experiment.where);
  return std::move(file).model(std::move(fitted));
}

}  // namespace

Source load_run(const std::string& path, std::span<const std::string> assignments) {
  ModelFile file = read_model_file(path);
  if (!file.experiment().contains("data")) {
    Model model = std::move(file).model();
    return {.experiment = without_data(model, path), .model = std::move(model), .has_data = false};
  }
  const Json document = assigned(file.experiment(), assignments);
  for (const char* part : {"model", "cells"}) {
    if (document.value(part, Json()) != file.experiment().value(part, Json()))
      throw InputError(text_of(path, ": /", part, ": the model of a run cannot be changed."));
  }
  Experiment experiment = read_document(document, path, std::filesystem::absolute(path));
  Model model = model_of(std::move(file), experiment);
  return {.experiment = std::move(experiment), .model = std::move(model)};
}

Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool) {
  if (is_run(path)) return load_run(path, assignments);
  Experiment experiment = read_experiment(path, assignments);
  Model model = build_model(experiment, data_shape(experiment, pool));
  return {.experiment = std::move(experiment), .model = std::move(model)};
}

DataShape data_shape(const Experiment& experiment, ThreadPool& pool) {
  return experiment.data_shape ? *experiment.data_shape : experiment.load_task(pool).shape;
}

}  // namespace lagtape::cli
