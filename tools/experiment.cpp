#include "lagtape/tools/experiment.h"

#include "lagtape/cells/model_spec.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/experiment_reader.h"
#include "lagtape/tools/json_set.h"
#include "lagtape/tools/losses.h"

namespace lagtape {

namespace fs = std::filesystem;

Experiment parse_experiment(const std::string& text, const std::string& where, const fs::path& base,
                            std::span<const std::string> assignments) {
  Json document = parse_json(text, where);
  for (const std::string& assignment : assignments) {
    const Json before = at_pointer(document, "/data/path");
    assign(document, assignment);
    const Json& path = at_pointer(document, "/data/path");
    if (path != before && path.is_string() && path != "")
      document["data"]["path"] = fs::absolute(path.get<std::string>()).string();
  }
  return read_document(document, where, fs::current_path() / base);
}

Experiment read_experiment(const fs::path& file, std::span<const std::string> assignments) {
  return parse_experiment(read_file(file), file.string(), file.parent_path(), assignments);
}

Model build_model(const Experiment& experiment, const DataShape& data) {
  JsonErrors errors;
  if (!entry_of(experiment.loss).fits(data)) errors.add("/loss", mismatch(experiment.loss, data));
  errors.raise(experiment.where);
  const DataWidths fit = widths_of(experiment.loss, data);
  if (experiment.data_shape) {
    return Model::build(experiment.json, fit.input, fit.output, fit.classes, experiment.seed);
  }
  // What the file left to the data is decided now, and stays in the model's own copy of the experiment.
  Json document = parse_json(experiment.json, experiment.where);
  const ModelOptions options =
      read_model(at_pointer(document, "/model"), at_pointer(document, "/cells"), errors);
  errors.raise(experiment.where);
  document["model"] = build_model(options, fit, errors).filled_model;
  errors.raise(experiment.where);
  return Model::build(document.dump(2), fit.input, fit.output, fit.classes, experiment.seed);
}

}  // namespace lagtape
