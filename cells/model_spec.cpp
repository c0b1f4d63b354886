#include "lagtape/cells/model_spec.h"

#include <map>
#include <utility>

#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/linear.h"
#include "lagtape/cells/recorder.h"

namespace lagtape {
namespace {

const std::vector<std::string> kReadAt = {"every_step", "last_step", "mean"};

using CellDefinitions = std::map<std::string, CellDefinition>;

CellDefinitions read_cells(const Json& cells, JsonErrors& errors) {
  CellDefinitions definitions;
  if (cells.is_null()) return definitions;
  const JsonReader reader(cells, "/cells", errors);
  if (!reader.is_object()) return definitions;
  for (const auto& [name, value] : cells.items()) {
    JsonReader cell(value, reader.pointer_to(name), errors);
    if (find_layer(lagtape::cells(), name)) cell.error("", "the name is taken by a built-in cell.");
    definitions.emplace(name, read_cell_definition(cell));
  }
  return definitions;
}

/// The options of a layer of that name.
BuildLayer read_options(const std::string& kind, const std::string& name, const CellDefinitions& definitions,
                        JsonReader& reader) {
  const auto entries = kind == "cell" ? cells() : per_step_layers();
  if (const LayerEntry* entry = find_layer(entries, name)) return entry->read(reader);
  return read_equation_layer(definitions.at(name), reader);
}

void read_layer(const Json& value, const std::string& pointer, const CellDefinitions& definitions,
                ModelOptions& options, JsonErrors& errors) {
  JsonReader reader(value, pointer, errors);
  if (!reader.is_object()) return;
  const std::string kind = reader.has("layer") ? "layer" : "cell";
  if (reader.has("layer") && reader.has("cell")) {
    reader.error("",
                 "a layer has one of the keys 'cell' (recurrent) and 'layer' (of a step alone), not both.");
    return;
  }
  std::vector<std::string> known = names_of(kind == "cell" ? cells() : per_step_layers());
  if (kind == "cell") {
    for (const auto& [name, definition] : definitions) known.push_back(name);
  }
  std::string name;
  reader.required(kind, name, "name");
  if (name.empty()) return;
  if (std::ranges::find(known, name) == known.end()) {
    reader.error(kind, unknown_name(kind, name, known) + ".");
    return;
  }
  options.layers.push_back({name, pointer, read_options(kind, name, definitions, reader)});
  reader.finish();
  options.filled_model["layers"].push_back(reader.filled());
}

void read_layers(JsonReader& reader, const CellDefinitions& definitions, ModelOptions& options) {
  const Json& layers = reader.raw("layers", "the layers, from the input up");
  if (!layers.is_array() || layers.empty()) {
    reader.error("layers",
                 R"(expected a list of layers, like [{"cell": "tau_gru", "units": 16, "tau": 10}].)");
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    read_layer(layers[i], concat(reader.pointer_to("layers"), "/", i), definitions, options, reader.errors());
  }
}

/// All of its keys. Those that the data may decide have no default.
void read_readout_options(JsonReader& reader, ModelOptions& options) {
  if (reader.has("units")) {
    reader.required("units", options.readout_units, between(1, kLargestUnits), "size of the output");
  } else {
    reader.raw("units", "size of the output; by default that of the targets, or the number of classes");
  }
  if (reader.has("at")) {
    reader.required_choice("at", options.readout_at, kReadAt, "which steps are read");
  } else {
    reader.raw("at",
               "which steps are read; by default every step if there is a target for each, else the last");
  }
  reader.optional("at_padding", options.at_padding, "read at the batch's last step, padding included");
  if (options.at_padding && !options.readout_at.empty() && options.readout_at != "last_step") {
    reader.error("at_padding", "this goes with \"at\": \"last_step\" only.");
  }
  options.readout_init.read(reader);
}

void read_readout(JsonReader& model, ModelOptions& options) {
  const Json none = Json::object();
  const Json& given = model.raw("readout", "the linear map of the top layer's output");
  JsonReader reader(given.is_null() ? none : given, model.pointer_to("readout"), model.errors());
  read_readout_options(reader, options);
  reader.finish();
  options.filled_model["readout"] = reader.filled();
}

/// The output width of a read-out: the model's and the data's must agree where both are known.
std::int64_t readout_units(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const std::int64_t wanted = data.classes > 0 ? data.classes : data.output;
  const std::int64_t given = options.readout_units;
  const bool one_logit = data.classes == 2 && given == 1;
  if (given > 0 && wanted > 0 && given != wanted && !one_logit) {
    errors.add("/model/readout/units", concat("the model gives ", given, " numbers, but the data have ",
                                              wanted, data.classes > 0 ? " classes." : " a target."));
  }
  if (given == 0 && wanted == 0)
    errors.add("/model/readout/units", "is missing, and the data do not tell it.");
  return std::max<std::int64_t>(1, given > 0 ? given : wanted);
}

std::string readout_at(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const bool every_step = data.every_step.value_or(false) && !options.at_padding;
  const std::string fallback = every_step ? "every_step" : "last_step";
  const std::string at = options.readout_at.empty() ? fallback : options.readout_at;
  if (data.every_step && *data.every_step != (at == "every_step")) {
    errors.add("/model/readout/at",
               concat("the model reads at '", at, "', but the data have a target for every ",
                      *data.every_step ? "step." : "sequence."));
  }
  return at;
}

void append(ModelSpec& spec, const std::string& name, LayerGroup group, std::size_t position) {
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    spec.names.push_back(group.nested ? concat(name, ".", i) : name);
    spec.prefixes.push_back(group.nested ? concat("layers.", position, ".", i, ".")
                                         : concat("layers.", position, "."));
    spec.layers.push_back(std::move(group.layers[i]));
  }
}

ReadAt read_at(const std::string& name, bool at_padding) {
  if (name == "every_step") return ReadAt::every_step;
  if (name == "mean") return ReadAt::mean;
  return at_padding ? ReadAt::last_padded_step : ReadAt::last_step;
}

}  // namespace

ModelOptions read_model(const Json& model, const Json& cells, JsonErrors& errors) {
  ModelOptions options;
  options.filled_model = {{"layers", Json::array()}, {"readout", Json::object()}};
  options.filled_cells = cells;
  const CellDefinitions definitions = read_cells(cells, errors);
  JsonReader reader(model, "/model", errors);
  if (!reader.is_object()) return options;
  read_layers(reader, definitions, options);
  read_readout(reader, options);
  reader.finish();
  return options;
}

std::vector<OptionDoc> readout_options() {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  ModelOptions options;
  read_readout_options(reader, options);
  return reader.documentation();
}

ModelSpec build_model(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  ModelSpec spec;
  std::int64_t width = data.input;
  for (const ModelOptions::LayerOptions& layer : options.layers) {
    try {
      append(spec, layer.name, layer.build(width), static_cast<std::size_t>(&layer - options.layers.data()));
    } catch (const OptionError& error) {
      errors.add(error.pointer, error.what());
      return spec;
    } catch (const InputError& error) {
      errors.add(layer.pointer, concat("cell '", layer.name, "': ", error.what()));
      return spec;
    }
    const StepProgram& program = spec.layers.back().program;
    const RowShape output = program.values[program.output].shape;
    if (output.rank != 1) {
      errors.add(layer.pointer,
                 concat("the output of a layer must be a vector. Got ", to_string(output), "."));
      return spec;
    }
    width = output.size;
  }
  const std::int64_t units = readout_units(options, data, errors);
  const std::string at = readout_at(options, data, errors);
  try {
    spec.readout = Linear{units, options.readout_init}.build(width);
  } catch (const OptionError& error) {
    errors.add(error.pointer, error.what());
    return spec;
  }
  spec.at = read_at(at, options.at_padding);
  spec.filled_model = options.filled_model;
  Json& readout = spec.filled_model["readout"];
  readout = {{"units", units}, {"at", at}, {"at_padding", options.at_padding}, {"init", readout["init"]}};
  spec.filled_cells = options.filled_cells;
  return spec;
}

std::int64_t ModelSpec::input_width() const { return layers.front().program.input.size; }
std::int64_t ModelSpec::output_width() const {
  return readout.program.values[readout.program.output].shape.size;
}

StackDefinition ModelSpec::stack(Loss loss) const {
  StackDefinition stack;
  for (const Layer& layer : layers) stack.layers.push_back(layer.program);
  stack.readout = readout.program;
  stack.at = at;
  stack.loss = loss;
  return stack;
}

std::vector<ParameterDefinition> ModelSpec::parameters() const {
  std::vector<ParameterDefinition> all;
  const auto append = [&](const std::string& prefix, const Layer& layer) {
    for (ParameterDefinition p : layer.parameters) {
      p.draws_of = prefix + (p.draws_of.empty() ? p.name : p.draws_of);
      p.name = prefix + p.name;
      all.push_back(std::move(p));
    }
  };
  for (std::size_t i = 0; i < layers.size(); ++i) append(prefixes[i], layers[i]);
  append("readout.", readout);
  return all;
}

std::int64_t ModelSpec::parameter_count() const {
  std::int64_t count = readout.parameter_count();
  for (const Layer& layer : layers) count += layer.parameter_count();
  return count;
}

Parameters draw_parameters(const ModelSpec& spec, Dtype dtype, std::uint64_t seed) {
  Parameters parameters;
  for (const ParameterDefinition& definition : spec.parameters()) {
    Tensor value(definition.shape, dtype);
    initialize(value, definition.initializer, seed, definition.draws_of);
    parameters.add(definition.name, std::move(value)).bounds = definition.bounds;
  }
  return parameters;
}

}  // namespace lagtape
