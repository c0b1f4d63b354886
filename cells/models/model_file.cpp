#include "lagtape/cells/models/model_file.h"

#include <charconv>
#include <istream>
#include <iterator>
#include <utility>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/normalization_json.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {
namespace {

constexpr std::string_view kFormatBegin = "lagtape-";  // followed by the version number
constexpr const char* kFormat = "lagtape-1";

std::int64_t read_count(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError({where}, Rule::missing, text_of("no lagtape model: metadata '", key, "' is missing"));
  std::int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw unexpected({.file = where, .item = text_of("metadata '", key, "'")}, Rule::damaged, "a count",
                     quote(text));
  return value;
}

const std::string& read_text(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError({where}, Rule::missing, text_of("no lagtape model: metadata '", key, "' is missing"));
  return found->second;
}

/// Throws InputError that says what the file is instead of a model of this version.
void check_format(const SafetensorsFile& file, const std::string& where) {
  const auto found = file.metadata.find("format");
  if (found == file.metadata.end() && file.metadata.contains("state"))
    throw unexpected({where}, Rule::wrong_type, "a run folder or its weights", "a checkpoint of a training");
  if (found == file.metadata.end())
    throw InputError({where}, Rule::missing, "no lagtape model: metadata 'format' is missing", {},
                     "`lagtape import` makes a run of a model of PyTorch");
  const std::string& format = found->second;
  if (format != kFormat)
    throw unexpected({where}, Rule::not_supported, text_of("the format '", kFormat, "'"), quote(format),
                     format.starts_with(kFormatBegin) ? "A newer lagtape wrote this file." : "");
  const auto grammar = file.metadata.find("grammar");
  if (grammar != file.metadata.end() && grammar->second != std::to_string(EquationCell::kGrammar))
    throw unexpected({where}, Rule::not_supported,
                     text_of("cells by the grammar ", EquationCell::kGrammar, " of equations"),
                     shortened(grammar->second), "A newer lagtape wrote this file.");
}

/// Marks each equation cell as using the grammar of its time, in which vectors broadcast differently than in
/// NumPy. Files before version 0.2 do not say so.
void mark_as_first_grammar(Json& experiment) {
  Json* const cells = experiment.find_pointer("/cells");
  if (cells == nullptr || !cells->is_object()) return;
  for (Json& cell : *cells)
    if (cell.is_object() && !cell.contains("grammar")) cell["grammar"] = 1;
}

void check_text(const Json& root, const char* pointer, const std::string& where) {
  const Json* found = root.find_pointer(pointer);
  if (found != nullptr && !found->is_string())
    throw unexpected({.file = where, .pointer = pointer}, Rule::wrong_type, "a text in the experiment",
                     shortened(found->dump()));
}

Parameters take_parameters(const FittedModel& model, Dtype dtype, TensorReader& reader,
                           const std::string& where) {
  Parameters parameters;
  for (const ParameterDefinition& p : model.parameters()) {
    Tensor value = reader.take(p.name, p.shape, dtype);
    if (const std::string error = value_error(p, value); !error.empty())
      throw InputError({.file = where, .item = text_of("tensor '", p.name, "'")}, Rule::out_of_range,
                       text_of(error));
    add_parameter(parameters, p, std::move(value));
  }
  return parameters;
}

/// The names of a model's initial states, in window order: start.layers.0.h, ...
std::vector<std::string> start_names(const FittedModel& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (!model.layers[i].whole)
      for (const StateDefinition& state : model.layers[i].program.states)
        names.push_back(text_of("start.", model.prefixes[i], state.name));
  return names;
}

/// The initial states: all of the model's, or none if the file lacks the first.
Window take_start(const FittedModel& model, TensorReader& reader) {
  const std::vector<std::string> names = start_names(model);
  Window start;
  if (!names.empty() && reader.contains(names.front()))
    for (const std::string& name : names) start.states.push_back(reader.take(name));
  return start;
}

}  // namespace

ModelFile ModelFile::read(const std::filesystem::path& run_or_file) {
  const std::filesystem::path file =
      std::filesystem::is_directory(run_or_file) ? run_or_file / "weights.safetensors" : run_or_file;
  ModelFile result{read_safetensors(file), file.string()};
  result.folder_ = file.parent_path().empty() ? "." : file.parent_path();
  return result;
}

ModelFile ModelFile::parse(std::string_view bytes, const std::string& where) {
  return {parse_safetensors(bytes, where), where};
}

ModelFile::ModelFile(SafetensorsFile content, const std::string& where)
    : where_(where), content_(std::move(content)) {
  check_format(content_, where);
  widths_ = {read_count(content_, "input", where), read_count(content_, "output", where),
             read_count(content_, "classes", where)};
  experiment_ = parse_json(read_text(content_, "experiment", where), where + ": experiment");
  check_text(experiment_, "/train/precision", where);
  if (!content_.metadata.contains("grammar")) mark_as_first_grammar(experiment_);
}

Model ModelFile::model() && {
  const PlainArithmetic plain;
  const auto part = [&](const char* key) {
    return experiment_.is_object() ? experiment_.value(key, Json()) : Json();
  };
  JsonErrors errors;
  ModelDefinition definition = read_model(part("model"), part("cells"), errors);
  definition.loss = loss_in(experiment_, errors);
  errors.raise(where_);
  FittedModel fitted = fitted_to(definition, widths_, where_);
  return std::move(*this).model(std::move(fitted));
}

Model ModelFile::model(FittedModel fitted) && {
  fitted.definition.precision = precision_in(experiment_);
  const Dtype dtype = fitted.definition.precision;
  TensorReader reader(content_, where_);
  Parameters parameters = take_parameters(fitted, dtype, reader, where_);
  Window start = take_start(fitted, reader);
  reader.finish();
  experiment_["model"] = json_of(fitted.definition);
  auto model = std::make_unique<Model::Implementation>(
      std::move(fitted),
      std::make_shared<const Provenance>(Provenance{std::move(experiment_), std::move(folder_)}));
  model->normalization = normalization_from(read_text(content_, "normalization", where_), where_);
  try {
    model->normalization.check(model->chain.input_width(), model->chain.output_width());
  } catch (const InputError& error) {
    throw error.within({where_});
  }
  if (content_.metadata.contains("series"))
    model->series =
        series_normalizations_from(read_text(content_, "series", where_), model->normalization, where_);
  for (const auto& [name, normalization] : model->series) try {
      normalization.check(model->chain.input_width(), model->chain.output_width());
    } catch (const InputError& error) {
      throw error.within({where_});
    }
  model->parameters = std::move(parameters);
  Model loaded(std::move(model));
  try {
    loaded.set_start(std::move(start));
  } catch (const InputError& error) {
    throw error.within({where_});
  }
  return loaded;
}

Model Model::load(const std::filesystem::path& run_or_file) { return ModelFile::read(run_or_file).model(); }

Model Model::parse(std::string_view bytes, const std::string& where) {
  return ModelFile::parse(bytes, where).model();
}

Model Model::load(std::span<const std::byte> bytes, const std::string& where) {
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, where);
}

Model Model::load(std::istream& stream, const std::string& where) {
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad() || bytes.empty()) throw InputError({where}, Rule::missing, "there is nothing to read");
  return parse(bytes, where);
}

void Model::save(const std::filesystem::path& file) const {
  const std::filesystem::path folder = file.parent_path();
  write_safetensors(file, content_of(*this, folder.empty() ? "." : folder));
}

SafetensorsFile content_of(const Model& model, const std::filesystem::path& folder) {
  const Provenance& from = model.provenance();
  const bool moves = from.moved_to && !folder.empty();
  const FittedModel& fitted = model.fitted();
  SafetensorsFile content;
  content.metadata = {{"format", kFormat},
                      {"experiment", (moves ? from.moved_to(from.document, folder) : from.document).dump(2)},
                      {"grammar", std::to_string(EquationCell::kGrammar)},
                      {"normalization", json_of(model.normalization())},
                      {"input", std::to_string(model.chain().input_width())},
                      {"output", std::to_string(fitted.classes > 0 ? 0 : fitted.target_width())},
                      {"classes", std::to_string(fitted.classes)}};
  if (!model.series().empty()) content.metadata["series"] = json_of(model.series(), model.normalization());
  for (const Parameter& p : model.parameters()) content.tensors.push_back({p.name, p.value});
  const std::vector<std::string> names = start_names(fitted);
  for (std::size_t s = 0; s < model.start().states.size(); ++s)
    content.tensors.push_back({names[s], model.start().states[s]});
  return content;
}

}  // namespace lagtape
