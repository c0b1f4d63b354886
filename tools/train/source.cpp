#include "lagtape/tools/train/source.h"

#include <filesystem>
#include <fstream>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_file.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape {

namespace {

/// The first byte of a file that is not blank, or 0.
char first_byte(const std::string& path) {
  char byte = 0;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) std::ifstream(path) >> byte;
  return byte;
}

/// The experiment of a model that was made in C++ or imported, which has none.
Experiment without_data(const Model& model, const std::string& path) {
  const auto load = [path](ThreadPool&, std::uint64_t, const SeriesNormalizations*) -> Task {
    throw InputError({path}, Rule::not_supported,
                     "this model was made in C++ or imported, and names no data.");
  };
  Experiment experiment;
  experiment.name = std::filesystem::path(path).stem().string();
  experiment.where = path;
  experiment.model = model.definition();
  experiment.loss = model.loss();
  experiment.train.precision = model.definition().precision;
  experiment.data.load = experiment.data.load_to_score = load;
  experiment.document = std::make_shared<const Json>(document_of(model));
  return experiment;
}

/// The problem of a folder without weights.
Problem without_weights(const RunFolder& run) {
  const std::string path = run.path().string(), file = run.weights_file().string();
  const auto missing = [](const std::string& place, const char* statement, std::string hint = {}) {
    return Problem{.place = {place}, .rule = Rule::missing, .statement = statement, .hint = std::move(hint)};
  };
  if (!run.can_resume()) return missing(path, "is not a run folder, since it has no weights.safetensors.");
  std::error_code error;
  const auto evaluated = std::filesystem::file_size(run.metrics_file(), error);
  if (error || evaluated == 0)
    return missing(path, "the run has no weights.safetensors yet; its first evaluation writes it.");
  return missing(file, "is missing, though the run was evaluated.",
                 text_of("`lagtape train ", path, " --resume` writes it again."));
}

/// The weights file of a run folder, or the file itself. Throws InputError that says what the path is instead.
ModelFile read_model_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const RunFolder run(path);
    if (!std::filesystem::exists(run.weights_file(), error)) throw InputError(without_weights(run));
  } else if (!is_run(path) && first_byte(path) == '{') {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const bool is_beside = std::filesystem::exists(RunFolder(folder).weights_file(), error);
    throw InputError(
        {path}, Rule::wrong_type,
        text_of("expected a run folder or a .safetensors file. This looks like an experiment: ",
                is_beside ? text_of("give its run, ", folder.string(), ".")
                          : "train it first. `lagtape import` makes a run of a model of another program."));
  }
  return ModelFile::read(path);
}

/// Gives a model of a file its experiment with absolute paths, so that they are right in any folder that it is saved in.
Model opened(Model model) {
  model.set_provenance(provenance_of(document_of(model)));
  return model;
}

/// The model of a file, as the experiment in it was read; fitted to the widths that the file states.
Model model_of(ModelFile file, const Experiment& experiment) {
  const DataWidths& widths = file.widths();
  const FittedModel* known = experiment.fitted.get();
  if (known != nullptr && known->input_width() == widths.input && known->classes == widths.classes &&
      (widths.classes > 0 || known->target_width() == widths.output))
    return opened(std::move(file).model(*known));
  JsonErrors errors;
  FittedModel fitted = fit(experiment.model, widths, errors);
  errors.raise(experiment.where);
  return opened(std::move(file).model(std::move(fitted)));
}

}  // namespace

bool is_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ||
         std::filesystem::path(path).extension() == ".safetensors";
}

std::string advice_on_missing_data(const Json& experiment) {
  std::error_code error;
  for (const auto& [setting, path] : paths_of(experiment))  // such as "data.path.1" in a list
    if (setting.starts_with("data.") && !std::filesystem::exists(path, error))
      return text_of("If the data have moved, say where they are now: train and analyze by --set ", setting,
                     "=PATH", setting == "data.path" ? ", eval by --data PATH." : ".");
  return "";
}

void advise_on_missing_data(Experiment& experiment) {
  const std::string advice = advice_on_missing_data(document_of(experiment));
  if (advice.empty()) return;
  for (TaskLoading* load : {&experiment.data.load, &experiment.data.load_to_score}) {
    *load = [load = *load, advice](ThreadPool& pool, std::uint64_t seed, const SeriesNormalizations* known) {
      try {
        return load(pool, seed, known);
      } catch (const InputError& error) {
        throw error.with_hint(advice);
      }
    };
  }
}

Model load_model(const std::string& path) { return opened(read_model_file(path).model()); }

Source load_run(const std::string& path, std::span<const std::string> assignments) {
  ModelFile file = read_model_file(path);
  if (!file.experiment().contains("data")) {
    Model model = opened(std::move(file).model());
    return {.experiment = without_data(model, path), .model = std::move(model), .has_data = false};
  }
  Json in_file = file.experiment();
  make_paths_absolute(in_file, file.folder());
  const Json document = assigned(in_file, assignments);
  for (const char* part : {"model", "cells"}) {
    if (document.value(part, Json()) != in_file.value(part, Json()))
      throw InputError({.file = path, .pointer = text_of("/", part)}, Rule::not_supported,
                       "the model of a run cannot be changed.");
  }
  Experiment experiment = read_document(document, file.where(), std::filesystem::absolute(path));
  if (value_at(document, "/data") == value_at(in_file, "/data")) advise_on_missing_data(experiment);
  Model model = model_of(std::move(file), experiment);
  experiment.known = std::make_shared<const SeriesNormalizations>(series_of_data(model));
  return {.experiment = std::move(experiment), .model = std::move(model)};
}

void refuse_row(const std::string& path, const std::string& row) {
  if (!row.empty())
    throw InputError({path}, Rule::wrong_type, "is a run. --row goes with an experiment file.");
}

Source load_source(const std::string& path, std::span<const std::string> assignments, ThreadPool& pool,
                   const std::string& row) {
  if (!is_run(path)) return untrained(read_experiment(path, assignments, row), pool);
  refuse_row(path, row);
  return load_run(path, assignments);
}

Source untrained(Experiment experiment, ThreadPool& pool) {
  Model model = build_model(experiment, data_shape(experiment, pool));
  return {.experiment = std::move(experiment), .model = std::move(model)};
}

Source undrawn(Experiment experiment, ThreadPool& pool) {
  Model model = undrawn_model(experiment, data_shape(experiment, pool));
  return {.experiment = std::move(experiment), .model = std::move(model), .has_values = false};
}

DataShape data_shape(const Experiment& experiment, ThreadPool& pool) {
  return experiment.data.shape ? *experiment.data.shape : experiment.load_task(pool).shape;
}

}  // namespace lagtape
