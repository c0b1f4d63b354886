#include <filesystem>
#include <sstream>
#include <string>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"

namespace lagtape {
namespace {

constexpr const char* kFormat = "lagtape-1";

std::int64_t read_count(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(text_of(where, ": no lagtape model: metadata '", key, "' is missing"));
  std::int64_t value = 0;
  std::istringstream text(found->second);
  if (!(text >> value) || !text.eof() || value < 0)
    throw InputError(text_of(where, ": metadata '", key, "': expected a count, found '", found->second, "'"));
  return value;
}

const std::string& read_text(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(text_of(where, ": no lagtape model: metadata '", key, "' is missing"));
  return found->second;
}

}  // namespace

Model Model::load(const std::filesystem::path& run_or_file) {
  const std::filesystem::path file =
      std::filesystem::is_directory(run_or_file) ? run_or_file / "weights.safetensors" : run_or_file;
  return from(read_safetensors(file), file.string());
}

Model Model::parse(std::string_view bytes, const std::string& where) {
  return from(parse_safetensors(bytes, where), where);
}

Model Model::from(SafetensorsFile content, const std::string& where) {
  if (const std::string& format = read_text(content, "format", where); format != kFormat)
    throw InputError(text_of(where, ": format '", format, "' is not known here. Expected '", kFormat, "'"));
  const DataWidths data{read_count(content, "input", where), read_count(content, "output", where),
                        read_count(content, "classes", where)};
  Json root = parse_json(read_text(content, "experiment", where), where);
  const auto part = [&](const char* key) { return root.is_object() ? root.value(key, Json()) : Json(); };
  JsonErrors errors;
  ModelDefinition definition = read_model(part("model"), part("cells"), errors);
  errors.raise(where);
  definition.loss = loss_in(root);
  definition.precision = precision_in(root);
  FittedModel fitted = fitted_to(definition, data, where);
  root["model"] = json_of(fitted.definition);
  auto model = std::make_unique<Implementation>(std::move(fitted), root.dump(2));
  model->normalization = normalization_from(read_text(content, "normalization", where), where);
  try {
    model->normalization.check(model->chain.input_width(), model->chain.output_width());
  } catch (const InputError& error) {
    throw InputError(text_of(where, ": ", error.what()));
  }
  TensorReader reader(std::move(content), where);
  for (const ParameterDefinition& p : model->fitted.parameters()) {
    Tensor value = reader.take(p.name, p.shape, model->dtype());
    if (const std::string error = value_error(p, value); !error.empty())
      throw InputError(text_of(where, ": tensor '", p.name, "': ", error));
    model->parameters.add(p.name, std::move(value), p.trainable).bounds = p.bounds;
  }
  reader.finish();
  return Model(std::move(model));
}

void Model::save(const std::filesystem::path& file) const {
  const Implementation& m = *implementation_;
  SafetensorsFile content;
  content.metadata = {{"format", kFormat},
                      {"experiment", m.experiment},
                      {"normalization", json_of(m.normalization)},
                      {"input", std::to_string(m.chain.input_width())},
                      {"output", std::to_string(m.fitted.classes > 0 ? 0 : m.chain.output_width())},
                      {"classes", std::to_string(m.fitted.classes)}};
  for (const Parameter& p : m.parameters) content.tensors.push_back({p.name, p.value});
  write_safetensors(file, content);
}

}  // namespace lagtape
