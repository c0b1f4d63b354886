#include "lagtape/cells/models/model_options.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "lagtape/cells/equation_cell.h"
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
    read_layer(layers[i], text_of(reader.pointer_to("layers"), "/", i), definitions, options,
               reader.errors());
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

}  // namespace lagtape
