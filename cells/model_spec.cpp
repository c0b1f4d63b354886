#include "lagtape/cells/model_spec.h"

#include <cmath>
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

/// A built-in layer or cell of that name; null when there is none.
const LayerEntry* entry_named(const std::string& kind, const std::string& name) {
  if (kind == "cell") return find_layer(cells(), name);
  const LayerEntry* entry = find_layer(per_step_layers(), name);
  return entry ? entry : find_layer(sequence_layers(), name);
}

std::vector<std::string> known_names(const std::string& kind, const CellDefinitions& definitions) {
  if (kind == "layer") {
    std::vector<std::string> names = names_of(per_step_layers());
    std::ranges::copy(names_of(sequence_layers()), std::back_inserter(names));
    return names;
  }
  std::vector<std::string> names = names_of(cells());
  for (const auto& [name, definition] : definitions) names.push_back(name);
  return names;
}

BuildLayer read_named(const std::string& kind, const std::string& name, const CellDefinitions& definitions,
                      JsonReader& reader);

/// The layer {"cell": NAME, ...} at a key of the layer around it.
BuildLayer read_inner(JsonReader& around, const std::string& key, const CellDefinitions& definitions) {
  const Json& given = around.raw(key, "the cell inside", "object", "");
  if (given.is_null())
    around.error(key, R"(is missing, expected a cell, like {"cell": "lstm", "units": 64})");
  JsonReader reader(given, around.pointer_to(key), around.errors());
  std::string name;
  if (given.is_null() || !reader.is_object()) return {};
  reader.required_choice("cell", name, known_names("cell", definitions), "name");
  if (name.empty()) return {};
  const BuildLayer build = read_named("cell", name, definitions, reader);
  reader.finish();
  around.fill(key, reader.filled());
  return build;
}

BuildLayer read_named(const std::string& kind, const std::string& name, const CellDefinitions& definitions,
                      JsonReader& reader) {
  const LayerEntry* entry = entry_named(kind, name);
  if (entry == nullptr) return read_equation_layer(definitions.at(name), reader);
  if (entry->read_around == nullptr) return entry->read(reader);
  return entry->read_around(reader, [&](JsonReader& around, const std::string& key) {
    return read_inner(around, key, definitions);
  });
}

void read_layer(const Json& value, const std::string& pointer, const CellDefinitions& definitions,
                ModelOptions& options, JsonErrors& errors) {
  JsonReader reader(value, pointer, errors);
  if (!reader.is_object()) return;
  const std::string kind = reader.has("layer") ? "layer" : "cell";
  // A cell that is an object is an option: that of a layer around it.
  if (reader.has("layer") && reader.has("cell") && !value["cell"].is_object()) {
    reader.error("",
                 "a layer has one of the keys 'cell' (recurrent) and 'layer' (of a step alone), not both.");
    return;
  }
  const std::vector<std::string> known = known_names(kind, definitions);
  std::string name;
  reader.required(kind, name, "name");
  if (name.empty()) return;
  if (std::ranges::find(known, name) == known.end()) {
    reader.error(kind, unknown_name(kind, name, known) + ".");
    return;
  }
  const LayerEntry* entry = entry_named(kind, name);
  options.layers.push_back(
      {name, pointer, read_named(kind, name, definitions, reader), entry && entry->takes_tokens});
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
               "which steps are read; by default every step if there is a target for each, else the last",
               "\"every_step\" | \"last_step\" | \"mean\"");
  }
  reader.optional("at_padding", options.at_padding, "read at the batch's last step, padding included");
  if (options.at_padding && !options.readout_at.empty() && options.readout_at != "last_step") {
    reader.error("at_padding", "this goes with \"at\": \"last_step\" only.");
  }
  reader.optional(
      "tied", options.tied,
      "the matrix W is the table E of the embedding, one parameter with the gradients of both uses");
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

std::string names_taking_tokens() {
  std::string names;
  for (const LayerEntry& entry : sequence_layers())
    if (entry.takes_tokens) names += concat(names.empty() ? "" : ", ", entry.name);
  return names;
}

/// Tokens go into a layer that takes them, and nothing else does.
bool check_tokens(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const std::string tables = names_taking_tokens();
  for (const ModelOptions::LayerOptions& layer : options.layers) {
    const bool first = &layer == &options.layers.front();
    if (layer.takes_tokens && !first) {
      errors.add(layer.pointer, concat("'", layer.name, "' takes tokens: it can only be the first layer."));
    } else if (layer.takes_tokens && data.tokens == 0) {
      errors.add(layer.pointer, concat("'", layer.name, "' takes tokens, but the data are real numbers."));
    } else if (first && !layer.takes_tokens && data.tokens.value_or(0) > 0) {
      errors.add(layer.pointer, concat("the data are tokens, 0..", *data.tokens - 1,
                                       ": the first layer must be one that takes them: ", tables, "."));
    }
  }
  return errors.empty();
}

/// The read-out of the top layer's `width` numbers. Throws OptionError.
Layer make_readout(const ModelOptions& options, std::int64_t units, std::int64_t width) {
  if (!options.tied) return Linear{units, options.readout_init}.build(width);
  // Its weights are the parameter of another layer, given first, and its own.
  Layer readout = Linear{units, {options.readout_init.name}}.build(width);
  readout.parameters.erase(readout.parameters.begin());
  readout.weights = [](std::span<const Var> values) {
    return std::vector<Var>(values.begin(), values.end());
  };
  LayerGroup group{{std::move(readout)}, false};
  options.readout_init.values.apply(group);
  return std::move(group.layers.front());
}

/// Why a read-out of so many units cannot have the table of the first layer as its matrix; empty when it can.
std::string tie_obstacle(const ModelSpec& spec, std::int64_t units, std::int64_t width) {
  const Layer& first = spec.layers.front();
  if (first.whole == nullptr || first.whole->tokens() == 0)
    return concat("a tied read-out shares the table of an embedding, but the first layer is '",
                  spec.names.front(), "'.");
  const ParameterDefinition& table = first.parameters.front();
  const std::int64_t tokens = table.shape[0], numbers = table.shape[1];
  if (table.zero_row >= 0)
    return concat("the embedding's vector of padding, token ", table.zero_row,
                  ", stays zeros, but a read-out would train it. Leave out 'padding'.");
  if (numbers != width)
    return concat("the embedding has vectors of ", numbers, " numbers, but the top layer gives ", width, ".");
  if (tokens != units)
    return concat("the embedding has ", tokens, " tokens, but the read-out gives ", units, " numbers.");
  return {};
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
  if (!check_tokens(options, data, errors)) return spec;
  spec.filled_model = options.filled_model;
  std::int64_t width = data.input;
  for (const ModelOptions::LayerOptions& layer : options.layers) {
    try {
      const auto place = static_cast<std::size_t>(&layer - options.layers.data());
      append(spec, layer.name, layer.build(layer.takes_tokens ? data.tokens.value_or(0) : width), place);
      if (layer.takes_tokens)  // which a file of weights then tells without the data
        spec.filled_model["layers"][place]["vocabulary"] = spec.layers.back().whole->tokens();
    } catch (const OptionError& error) {
      errors.add(error.pointer, error.what());
      return spec;
    } catch (const InputError& error) {
      errors.add(layer.pointer, concat("cell '", layer.name, "': ", error.what()));
      return spec;
    }
    const RowShape output = spec.layers.back().output();
    if (output.rank != 1) {
      errors.add(layer.pointer,
                 concat("the output of a layer must be a vector. Got ", to_string(output), "."));
      return spec;
    }
    width = output.size;
  }
  const std::int64_t units = readout_units(options, data, errors);
  const std::string at = readout_at(options, data, errors);
  spec.tied = options.tied;
  if (const std::string obstacle = spec.tied ? tie_obstacle(spec, units, width) : ""; !obstacle.empty()) {
    errors.add("/model/readout/tied", obstacle);
    return spec;
  }
  try {
    spec.readout = make_readout(options, units, width);
  } catch (const OptionError& error) {
    errors.add(error.pointer, error.what());
    return spec;
  }
  spec.at = read_at(at, options.at_padding);
  Json& readout = spec.filled_model["readout"];
  readout = {{"units", units},
             {"at", at},
             {"at_padding", options.at_padding},
             {"tied", options.tied},
             {"init", readout["init"]}};
  spec.filled_cells = options.filled_cells;
  return spec;
}

std::int64_t ModelSpec::input_width() const { return chain().input_width(); }
std::int64_t ModelSpec::output_width() const { return readout.output().size; }
ChainDefinition ModelSpec::chain(Loss loss) const { return make_chain(layers, readout, at, loss); }

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

std::string value_error(const ParameterDefinition& definition, const Tensor& value) {
  const auto [low, high] = definition.bounds;
  const std::int64_t width = value.rank() > 1 ? value.numel() / value.size(0) : 1;
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    const double number = value.at(i);
    if (!std::isfinite(number)) return concat("number ", i, " is not finite: ", number);
    if (number < low || number > high)
      return concat("number ", i, " is ", number, ", expected ", low, " to ", high);
    if (definition.zero_row >= 0 && i / width == definition.zero_row && number != 0)
      return concat("row ", definition.zero_row, " is padding, expected zeros, got ", number);
  }
  return {};
}

Parameters draw_parameters(const ModelSpec& spec, Dtype dtype, std::uint64_t seed) {
  Parameters parameters;
  for (const ParameterDefinition& definition : spec.parameters()) {
    Tensor value(definition.shape, dtype);
    initialize(value, definition.initializer, seed, definition.draws_of);
    if (definition.zero_row >= 0) {
      const std::int64_t width = value.size(1);
      for (std::int64_t i = 0; i < width; ++i) value.set(definition.zero_row * width + i, 0);
    }
    if (const std::string error = value_error(definition, value); !error.empty())
      throw InputError(concat("/model: first values of ", definition.name, ": ", error));
    parameters.add(definition.name, std::move(value), definition.trainable).bounds = definition.bounds;
  }
  return parameters;
}

}  // namespace lagtape
