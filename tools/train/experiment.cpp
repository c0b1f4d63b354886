#include "lagtape/tools/train/experiment.h"

#include <algorithm>
#include <vector>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/experiment_rows.h"
#include "lagtape/tools/train/json_set.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape {

namespace fs = std::filesystem;

Json assigned(Json document, std::span<const std::string> assignments) {
  std::vector<Assignment> parsed;
  for (const std::string& assignment : assignments) parsed.push_back(parse_assignment(assignment));
  Json as_given = document;
  for (const Assignment& assignment : parsed) assign(as_given, assignment);
  for (Assignment& assignment : parsed) {
    make_assigned_paths_absolute(assignment.value, assignment.keys, as_given, fs::current_path());
    assign(document, assignment);
  }
  return document;
}

namespace {

/// A program's current folder may be gone; absolute paths do not need it.
fs::path in_this_folder(const fs::path& path) {
  return path.is_absolute() ? path : fs::current_path() / path;
}

}  // namespace

Experiment parse_experiment(const std::string& text, const std::string& where, const fs::path& base,
                            std::span<const std::string> assignments) {
  return read_experiment({parse_commented_json(text, where), where, in_this_folder(base)}, assignments);
}

ExperimentFile parse_experiment_file(const fs::path& file, const std::string& row) {
  const ExperimentPlace place{.file = file, .row = row};
  ExperimentFile read{read_experiment_document(place), place.text(), in_this_folder(file.parent_path())};
  if (is_experiment_of_run(file)) make_paths_absolute(read.document, read.base);
  return read;
}

Experiment read_experiment(const ExperimentFile& file, std::span<const std::string> assignments) {
  return read_document(assigned(file.document, assignments), file.where, file.base);
}

Experiment read_experiment(const fs::path& file, std::span<const std::string> assignments,
                           const std::string& row) {
  return read_experiment(parse_experiment_file(file, row), assignments);
}

std::string Experiment::json() const { return document ? document->dump(2) : ""; }

DataWidths widths_of(const LossFunction& loss, const DataShape& data) {
  const bool classes = loss == Loss::cross_entropy;
  return {.input = data.input,
          .output = classes          ? 0
                    : loss.is_real() ? data.output
                                     : 1,
          .classes = classes ? data.classes : 0,
          .every_step = data.every_step,
          .linear = data.linear,
          .tokens = data.tokens};
}

namespace {

/// Notes metrics of a class that the data do not have.
void check_metrics(const Experiment& experiment, const DataShape& data, JsonErrors& errors) {
  const std::int64_t classes = experiment.loss == Loss::binary_cross_entropy ? 2 : data.classes;
  for (std::size_t i = 0; i < experiment.metrics.size(); ++i) {
    const Metric known = metric(experiment.metrics[i], data.class_names);
    if (!known.class_name.empty() && known.of_class < 0 && !data.class_names.empty())
      errors.add(text_of("/metrics/", i), unknown_name("class", known.class_name, data.class_names));
    if (!known.class_name.empty() && data.class_names.empty())
      errors.add(text_of("/metrics/", i),
                 text_of(experiment.metrics[i],
                         ": the classes of these data have no names. Expected a number, as in f1_0."));
    if (!known.class_name.empty() || known.of_class < classes) continue;
    errors.add(text_of("/metrics/", i), text_of(experiment.metrics[i], ": the data have ", classes,
                                                " classes, from 0 to ", classes - 1, "."));
  }
}

/// The same problems; those of the linear term, which `data` asked for, are of its key.
JsonErrors of_residual(const JsonErrors& errors) {
  JsonErrors renamed;
  for (Problem problem : errors.problems()) {
    if (problem.place.pointer == "/model/linear") problem.place.pointer = "/data/residual";
    renamed.add("", problem);
  }
  return renamed;
}

/// A model whose parameters fit into the memory with their gradients, before they are drawn.
Model model_in_memory(const Experiment& experiment, FittedModel fitted, std::optional<Json> document) {
  constexpr std::int64_t kMany = std::int64_t{1} << 60;  // so that a sum of two does not overflow
  std::int64_t numbers = 0;
  for (const ParameterDefinition& parameter : fitted.parameters())
    numbers = std::min(numbers + element_count(parameter.shape), kMany);
  const auto size = static_cast<std::int64_t>(byte_size(fitted.definition.precision));
  if (numbers > system_memory() / 2 / size)
    throw InputError({.file = experiment.where, .pointer = "/model"}, Rule::no_memory,
                     text_of("the parameters are ", numbers,
                             " numbers, which do not fit into the memory with their gradients."));
  return Model::undrawn(std::move(fitted), document ? provenance_of(*std::move(document)) : nullptr);
}

}  // namespace

std::vector<std::string> target_names(const Experiment& experiment) {
  if (!experiment.document) return {};
  const Json& document = *experiment.document;
  const Json& target = value_at(document, "/data/target");
  const Json& columns = target.is_array() ? target : value_at(document, "/data/input");
  if (value_at(document, "/data/task") != "series" || !columns.is_array()) return {};
  std::vector<std::string> names;
  for (const Json& column : columns) {
    if (!column.is_string()) return {};
    names.push_back(column.get<std::string>());
  }
  return names;
}

Model build_model(const Experiment& experiment, const DataShape& data) {
  Model model = undrawn_model(experiment, data);
  model.draw(experiment.seed);
  return model;
}

Model undrawn_model(const Experiment& experiment, const DataShape& data) {
  JsonErrors errors;
  if (!loss_fits(experiment.loss, data)) errors.add("/loss", mismatch(experiment.loss, data));
  check_metrics(experiment, data, errors);
  errors.raise(experiment.where);
  const DataWidths widths = widths_of(experiment.loss, data);
  if (experiment.fitted && widths == widths_of(experiment.loss, *experiment.data.shape))
    return model_in_memory(experiment, *experiment.fitted, *experiment.document);
  FittedModel fitted = fit(experiment.model, widths, errors);
  if (widths.linear) errors = of_residual(errors);
  errors.raise(experiment.where);
  if (!experiment.document) return model_in_memory(experiment, std::move(fitted), std::nullopt);
  // The data have now decided everything that the file left open, so the model's own copy of the experiment
  // contains it.
  Json document = *experiment.document;
  document["model"] = json_of(fitted.definition);
  if ((experiment.balanced_classes && experiment.loss.is_adjusted()) ||
      !experiment.loss.options.scale.empty())
    document["loss"] = json_of(experiment.loss);
  if (const Json& classes = value_at(document, "/data/classes"); classes.is_array() || classes == 0) {
    if (data.classes > 0) document["data"]["classes"] = data.classes;
    if (!data.class_names.empty()) document["data"]["classes"] = data.class_names;
  }
  return model_in_memory(experiment, std::move(fitted), std::move(document));
}

Experiment with_seed(Experiment experiment, std::int64_t seed) {
  experiment.seed = static_cast<std::uint64_t>(seed);
  if (experiment.document) {
    Json document = *experiment.document;
    document["seed"] = seed;
    experiment.document = std::make_shared<const Json>(std::move(document));
  }
  return experiment;
}

}  // namespace lagtape
