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
#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

constexpr Choices kReadAt = {"every_step", "last_step", "mean"};

using CellDefinitions = std::map<std::string, CellDefinition>;

CellDefinitions read_cells(const Json& cells, JsonErrors& errors) {
  CellDefinitions definitions;
  if (cells.is_null()) return definitions;
  const JsonReader reader(cells, "/cells", errors);
  if (!reader.is_object()) return definitions;
  for (const auto& [name, value] : cells.items()) {
    JsonReader cell(value, reader.pointer_to(name), errors);
    if (const LayerEntry* entry = find_named(lagtape::cells(), name); entry && !entry->yields)
      cell.error("", "the name is taken by a built-in cell.");
    CellDefinition definition = read_cell_definition(cell);
    definition.name = name;
    definition.pointer = reader.pointer_to(name);
    definitions.emplace(name, std::move(definition));
  }
  return definitions;
}

/// A built-in layer or cell with that name; null if there is none, or for one of the file's own cells.
const LayerEntry* entry_named(const std::string& kind, const std::string& name,
                              const CellDefinitions& definitions) {
  if (kind == "cell") return definitions.contains(name) ? nullptr : find_named(cells(), name);
  const LayerEntry* entry = find_named(per_step_layers(), name);
  return entry ? entry : find_named(sequence_layers(), name);
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
  const Json& given = around.raw(key, "the cell inside");
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
  const LayerEntry* entry = entry_named(kind, name, definitions);
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
  // A "cell" that is an object is an option of an enclosing layer.
  if (reader.has("layer") && reader.has("cell") && !value["cell"].is_object()) {
    reader.error("",
                 "a layer has one of the keys 'cell' (recurrent) and 'layer' (of a step alone), not both.");
    return;
  }
  std::string name;
  reader.required(kind, name, "name");
  if (!value.contains(kind) || !value[kind].is_string()) return;
  const LayerEntry* entry = entry_named(kind, name, definitions);
  if (entry == nullptr && (kind == "layer" || !definitions.contains(name))) {
    reader.error(kind, errors.is_full() ? Problem()
                                        : errors.unknown(kind, name, known_names(kind, definitions),
                                                         reader.pointer_to(kind)));
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

// The keys "at" and "at_padding" are one member in C++.

void read_at(JsonReader& reader, const Option& option, std::optional<ReadAt>& at) {
  const std::string key(option.key);
  std::string name;
  if (!reader.has(key)) return;
  reader.required_choice(key, name, kReadAt.names(), "");
  if (name == "every_step") at = ReadAt::every_step;
  if (name == "mean") at = ReadAt::mean;
  if (name == "last_step") at = ReadAt::last_step;
}

Json at_json(const Option&, const std::optional<ReadAt>& at) { return at ? Json(name_of(*at)) : Json(); }
Json at_schema(const Option&) { return {{"enum", kReadAt.names()}}; }

void read_at_padding(JsonReader& reader, const Option& option, std::optional<ReadAt>& at) {
  bool at_padding = false;
  const std::string key(option.key);
  reader.optional(key, at_padding, "");
  if (!at_padding) return;
  if (at && at != ReadAt::last_step) return reader.error(key, "this goes with \"at\": \"last_step\" only.");
  at = ReadAt::last_padded_step;
}

Json at_padding_json(const Option&, const std::optional<ReadAt>& at) {
  return at == ReadAt::last_padded_step;
}
Json at_padding_schema(const Option&) { return {{"type", "boolean"}}; }

using At = std::optional<ReadAt>;
constexpr OptionKindOf<At> kAt = option_kind<At, read_at, at_json, at_schema>();
constexpr OptionKindOf<At> kAtPadding =
    option_kind<At, read_at_padding, at_padding_json, at_padding_schema>();

bool has_map(const ReadoutDefinition& readout) { return !readout.identity; }

constexpr Option kReadoutRows[] = {
    option<&ReadoutDefinition::identity>(
        "identity", "the outputs are those of the top layer, as with \"none\" in place of this object")
        .unless<has_map>(),
    option<&ReadoutDefinition::units>(
        "units", between(1, kLargestUnits),
        "size of the output; by default that of the targets, or the number of classes")
        .open(),
    option<&ReadoutDefinition::at>(
        "at", kAt, "which steps are read; by default every step if there is a target for each, else the last")
        .open(),
    option<&ReadoutDefinition::at>("at_padding", kAtPadding,
                                   "read at the batch's last step, padding included"),
    option<&ReadoutDefinition::tied>(
        "tied", "the matrix W is the table E of the embedding, one parameter with the gradients of both uses")
        .when<has_map>(),
    option<&ReadoutDefinition::init>("init", kLinearInit, kAboutLinearInit).when<has_map>(),
};
constexpr OptionTable kReadoutOptions = kReadoutRows;

void read_readout(JsonReader& model, ReadoutDefinition& readout) {
  const Json none = Json::object();
  const Json& given =
      model.raw("readout", "the linear map of the top layer's output; \"none\": there is none");
  const bool is_none = given.is_string() && given == "none";
  readout.identity = is_none || (given.is_object() && given.value("identity", Json()) == true);
  JsonReader reader(given.is_null() || is_none ? none : given, model.pointer_to("readout"), model.errors());
  read_options(reader, kReadoutOptions, readout);
  reader.finish();
}

struct Rest {
  double input = 0;
};
constexpr Option kRestRows[] = {option<&Rest::input>("input", "every number of the input")};

using RestInput = std::optional<double>;

void read_rest(JsonReader& model, const Option& option, RestInput& input) {
  const std::string key(option.key);
  const Json& given = model.raw(key);
  if (given.is_null()) return;
  JsonReader reader(given, model.pointer_to(key), model.errors());
  Rest rest;
  read_options(reader, kRestRows, rest);
  reader.finish();
  input = rest.input;
}

Json rest_json(const Option&, const RestInput& input) {
  return input ? json_of(kRestRows, Rest{*input}) : Json();
}
Json rest_schema(const Option&) { return or_null(schema_of_rows(kRestRows)); }

constexpr auto kRest = option_kind<RestInput, read_rest, rest_json, rest_schema>();

constexpr Option kLinearRows[] = {
    required<&LinearTerm::inputs>("inputs", at_least(0), "columns of the input that are its features"),
    required<&LinearTerm::lags>("lags", at_least(1), "steps back at which targets are its features"),
};
constexpr OptionTable kLinear = kLinearRows;

constexpr Option kOtherRows[] = {
    option<&ModelDefinition::linear>("linear", kLinear,
                                     "linear term beside the network, as \"residual\" of the data makes it")
        .open(),
    option<&ModelDefinition::rest>("rest", kRest,
                                   "the trained model begins in the state that it settles to for this input")
        .open(),
};

}  // namespace

constinit const OptionTable kOtherModelOptions = kOtherRows;

ModelDefinition read_model(const Json& model, const Json& cells, JsonErrors& errors) {
  ModelDefinition definition;
  if (!cells.is_null()) definition.cells = std::make_shared<const CellEquations>(CellEquations{cells});
  const CellDefinitions definitions = read_cells(cells, errors);
  JsonReader reader(model, "/model", errors);
  if (!reader.is_object()) return definition;
  read_layers(reader, definitions, definition);
  read_readout(reader, definition.readout);
  read_options(reader, kOtherModelOptions, definition);
  reader.finish();
  return definition;
}

Json json_of(const ModelDefinition& definition) {
  Json layers = Json::array();
  for (const LayerDefinition& layer : definition.layers) layers.push_back(layer.content().json);
  Json model = {{"layers", std::move(layers)}, {"readout", json_of(kReadoutOptions, definition.readout)}};
  model.update(json_of(kOtherModelOptions, definition));
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

std::vector<OptionDoc> readout_options() { return described(kReadoutOptions, ReadoutDefinition()); }

}  // namespace lagtape
