#include "lagtape/cells/models/model_json.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"

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
    CellDefinition definition = read_cell_definition(cell);
    definition.name = name;
    definition.pointer = reader.pointer_to(name);
    definitions.emplace(name, std::move(definition));
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
    around.error(key,
                 Problem{.rule = Rule::missing, .expected = R"(a cell, like {"cell": "lstm", "units": 64})"});
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
                ModelDefinition& model, JsonErrors& errors) {
  JsonReader reader(value, pointer, errors);
  if (!reader.is_object()) return;
  const std::string kind = reader.has("layer") ? "layer" : "cell";
  // A "cell" that is an object is an option of a layer around it.
  if (reader.has("layer") && reader.has("cell") && !value["cell"].is_object()) {
    reader.error("",
                 "a layer has one of the keys 'cell' (recurrent) and 'layer' (of a step alone), not both.");
    return;
  }
  std::string name;
  reader.required(kind, name, "name");
  if (!value.contains(kind) || !value[kind].is_string()) return;
  const LayerEntry* entry = entry_named(kind, name);
  if (entry == nullptr && (kind == "layer" || !definitions.contains(name))) {
    reader.error(kind,
                 errors.is_full() ? Problem() : unknown_name(kind, name, known_names(kind, definitions)));
    return;
  }
  BuildLayer build = read_named(kind, name, definitions, reader);
  reader.finish();
  model.layers.emplace_back(std::make_shared<const LayerContent>(
      LayerContent{name, std::move(build), entry && entry->takes_tokens, reader.filled()}));
}

void read_layers(JsonReader& reader, const CellDefinitions& definitions, ModelDefinition& model) {
  const Json& layers = reader.raw("layers", "the layers, from the input up");
  if (!layers.is_array() || layers.empty()) {
    reader.error("layers",
                 R"(expected a list of layers, like [{"cell": "tau_gru", "units": 16, "tau": 10}].)");
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    read_layer(layers[i], text_of(reader.pointer_to("layers"), "/", i), definitions, model, reader.errors());
  }
}

/// Reads "at" and "at_padding", which have one value in C++.
void read_at(JsonReader& reader, ReadoutDefinition& readout) {
  std::string at;
  bool at_padding = false;
  if (reader.has("at")) {
    reader.required_choice("at", at, kReadAt, "which steps are read");
  } else {
    reader.raw("at",
               "which steps are read; by default every step if there is a target for each, else the last",
               "\"every_step\" | \"last_step\" | \"mean\"");
  }
  reader.optional("at_padding", at_padding, "read at the batch's last step, padding included");
  if (at_padding && !at.empty() && at != "last_step")
    reader.error("at_padding", "this goes with \"at\": \"last_step\" only.");
  if (at == "every_step") readout.at = ReadAt::every_step;
  if (at == "mean") readout.at = ReadAt::mean;
  if (at == "last_step") readout.at = ReadAt::last_step;
  if (at_padding) readout.at = ReadAt::last_padded_step;
}

/// Reads all of the read-out's keys. Those that the data may decide have no default.
void read_readout_options(JsonReader& reader, ReadoutDefinition& readout) {
  if (reader.has("units")) {
    reader.required("units", readout.units, between(1, kLargestUnits), "size of the output");
  } else {
    reader.raw("units", "size of the output; by default that of the targets, or the number of classes",
               text_of("integer >= 1 and <= ", kLargestUnits));
  }
  read_at(reader, readout);
  reader.optional(
      "tied", readout.tied,
      "the matrix W is the table E of the embedding, one parameter with the gradients of both uses");
  readout.init.read(reader);
  readout.written_init = std::make_shared<const WrittenInit>(WrittenInit{reader.filled()["init"]});
}

void read_readout(JsonReader& model, ReadoutDefinition& readout) {
  const Json none = Json::object();
  const Json& given = model.raw("readout", "the linear map of the top layer's output");
  JsonReader reader(given.is_null() ? none : given, model.pointer_to("readout"), model.errors());
  read_readout_options(reader, readout);
  reader.finish();
}

/// Reads "rest", the input whose state of rest a trained model begins in.
void read_rest(JsonReader& model, std::optional<double>& rest) {
  const Json& given =
      model.raw("rest", "the trained model begins in the state that it settles to for this input");
  if (given.is_null()) return;
  JsonReader reader(given, model.pointer_to("rest"), model.errors());
  if (!reader.is_object()) return;
  double input = 0;
  reader.optional("input", input, {}, "every number of the input");
  reader.finish();
  rest = input;
}

Json init_json(const ReadoutDefinition& readout) {
  if (readout.written_init) return readout.written_init->json;
  const Json nothing = Json::object();
  JsonErrors none;
  JsonReader reader(nothing, "", none);
  Linear::Init own = readout.init;
  own.read(reader);
  return reader.filled()["init"];
}

Json readout_json(const ReadoutDefinition& readout) {
  Json json = Json::object();
  if (readout.units > 0) json["units"] = readout.units;
  if (readout.at) json["at"] = name_of(*readout.at);
  json["at_padding"] = readout.at == ReadAt::last_padded_step;
  json["tied"] = readout.tied;
  json["init"] = init_json(readout);
  return json;
}

}  // namespace

ModelDefinition read_model(const Json& model, const Json& cells, JsonErrors& errors) {
  ModelDefinition definition;
  if (!cells.is_null()) definition.cells = std::make_shared<const CellEquations>(CellEquations{cells});
  const CellDefinitions definitions = read_cells(cells, errors);
  JsonReader reader(model, "/model", errors);
  if (!reader.is_object()) return definition;
  read_layers(reader, definitions, definition);
  read_readout(reader, definition.readout);
  read_rest(reader, definition.rest);
  reader.finish();
  return definition;
}

Json json_of(const ModelDefinition& definition) {
  Json layers = Json::array();
  for (const LayerDefinition& layer : definition.layers) layers.push_back(layer.content().json);
  Json model = {{"layers", std::move(layers)}, {"readout", readout_json(definition.readout)}};
  if (definition.rest) model["rest"] = {{"input", *definition.rest}};
  return model;
}

Json cells_json_of(const ModelDefinition& definition) {
  return definition.cells ? definition.cells->json : Json();
}

LossFunction loss_in(const Json& experiment, JsonErrors& errors) {
  const Json* loss = experiment.find_pointer("/loss");
  return loss == nullptr || *loss == name_of(Loss::none) ? LossFunction() : read_loss(*loss, "/loss", errors);
}

Precision precision_in(const Json& experiment) {
  const Json& train = experiment.contains("train") ? experiment.at("train") : Json::object();
  return precision_named(train.is_object() ? train.value("precision", "f32") : "f32");
}

std::vector<OptionDoc> readout_options() {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  ReadoutDefinition readout;
  read_readout_options(reader, readout);
  return reader.documentation();
}

}  // namespace lagtape
