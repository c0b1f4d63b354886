#include "lagtape/tools/train/experiment_schema.h"

#include <algorithm>
#include <functional>

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/param_definition.h"
#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/ode_cell.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/optim/registry.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/train_options.h"

namespace lagtape {

namespace {

const char* const kName = R"(^(?!\.{1,2}$)[A-Za-z0-9._][A-Za-z0-9._-]{0,199}$)";

/// "if the key has the value, then the object is this".
Json where_key_is(const std::string& key, const Json& value, Json then) {
  return {{"if", {{"properties", {{key, {{"const", value}}}}}, {"required", Json::array({key})}}},
          {"then", std::move(then)}};
}

/// Options together with the key that names what they are of.
Json named_options(const std::string& key, const std::vector<OptionDoc>& options) {
  Json schema = schema_of_options(options);
  if (!schema["properties"].contains(key)) schema["properties"][key] = Json::object();
  return schema;
}

using NamedSchemas = std::vector<std::pair<std::string, Json>>;

/// An object with a key that names one of several, each with options of its own.
Json one_of_many(const std::string& key, const NamedSchemas& many, bool required) {
  Json names = Json::array(), rules = Json::array();
  for (const auto& [name, schema] : many) {
    names.push_back(name);
    rules.push_back(where_key_is(key, name, schema));
  }
  Json schema = {{"type", "object"}, {"properties", {{key, {{"enum", names}}}}}, {"allOf", rules}};
  if (required) schema["required"] = Json::array({key});
  return schema;
}

/// Rows by their names, each an object with the options that it reads and its name at the key "type".
NamedSchemas typed(const auto& rows) {
  NamedSchemas many;
  for (const auto& row : rows)
    many.emplace_back(row.name,
                      named_options("type", documented([&](JsonReader& reader) { row.read(reader); })));
  return many;
}

Json initializer_schema() {
  return either_schema({Json{{"enum", names_of(initializers())}}, Json{{"type", "number"}},
                        one_of_many("type", typed(initializers()), true)});
}

Json initial_values() {
  return {{"type", "object"}, {"additionalProperties", reference_schema("initializer")}};
}

/// The same schema with cells inside that the file defines.
Json with_own_cells(Json schema) {
  if (Json* name = schema.find_pointer("/$ref"); name != nullptr && *name == "#/$defs/cell")
    *name = "#/$defs/cell_or_own";
  for (Json& part : schema) part = with_own_cells(std::move(part));
  return schema;
}

/// The options of a layer; `own`: whether the file defines cells, so that a cell inside may be one.
Json layer_options(const LayerEntry& entry, bool own) {
  Json schema = named_options(std::string(entry.kind), options_of(entry));
  return own ? with_own_cells(std::move(schema)) : schema;
}

/// A layer with a cell that the file defines: its hyper-parameters are options.
Json own_cell() {
  Json schema = schema_of_options(documented([](JsonReader& reader) {
    EquationUnits units{.may_be_missing = true};  // whether they may, the cell's equations decide
    read_options(reader, kEquationUnits, units);
    CommonCellOptions common{.arithmetic = Arithmetic::real};
    read_options(reader, kCommonCellOptions, common);
  }));
  schema["properties"]["cell"] = {{"type", "string"}};
  schema["additionalProperties"] = {{"type", "number"}};
  return schema;
}

Json cell_layer(bool own) {
  NamedSchemas many;
  for (const LayerEntry& entry : cells()) many.emplace_back(entry.name, layer_options(entry, own));
  Json schema = one_of_many("cell", many, true);
  if (!own) return schema;
  const Json built_in = std::exchange(schema["properties"]["cell"], {{"type", "string"}});
  schema["allOf"].push_back(
      {{"if", {{"properties", {{"cell", {{"not", built_in}, {"type", "string"}}}}}}}, {"then", own_cell()}});
  return schema;
}

Json any_layer(bool own) {
  NamedSchemas layers;
  for (const LayerEntries entries : {per_step_layers(), sequence_layers()})
    for (const LayerEntry& entry : entries) layers.emplace_back(entry.name, layer_options(entry, own));
  return {{"if", {{"type", "object"}, {"required", Json::array({"layer"})}}},
          {"then", one_of_many("layer", layers, true)},
          {"else", reference_schema(own ? "cell_or_own" : "cell")}};
}

Json model_schema(bool own) {
  Json schema = schema_of_rows(kOtherModelOptions);
  schema["properties"]["layers"] = {
      {"type", "array"}, {"items", reference_schema(own ? "layer_or_own" : "layer")}, {"minItems", 1}};
  schema["properties"]["readout"] =
      or_null(either_schema({Json{{"enum", Json::array({"none"})}}, schema_of_options(readout_options())}));
  schema["required"] = Json::array({"layers"});
  return schema;
}

/// A cell has equations of a step, or some in continuous time with their history and solver.
Json cell_definition() {
  const Json text = {{"type", "string"}}, size = either_schema({text, integer_schema({})});
  const Json shapes = or_null(object_schema_of(either_schema({text, integer_schema({}), list_schema(size)})));
  const Json texts = list_schema(text, 1);
  Json schema = {
      {"type", "object"},
      {"properties",
       {{"reads", or_null(object_schema_of(integer_schema({})))},
        {"hyper", or_null(object_schema_of(number_schema({})))},
        {"constants",
         or_null(object_schema_of(either_schema({number_schema({}), list_schema(Json::object())})))},
        {"functions", or_null(object_schema_of(list_schema(text, 2)))},
        {"params", or_null(object_schema_of(param_schema()))},
        {"weights", shapes},
        {"init", or_null(initial_values())},
        {"derived", or_null(object_schema_of(text))},
        {"lags", or_null(object_schema_of(size))},
        {"state", shapes},
        {"step", either_schema({text, texts})},
        {"output", either_schema({text, texts})},
        {"grammar", integer_schema(between(1, EquationCell::kGrammar))}}},
      {"additionalProperties", false}};
  const Json in_time = schema_of_rows(kOdeOptions);
  schema["properties"].update(in_time.at("properties"));
  schema["oneOf"] =
      Json::array({{{"required", Json::array({"step", "output"})}}, {{"required", in_time.at("required")}}});
  return schema;
}

/// The rules for a task: what its data may be, and which keys `train` has.
void add_task_rules(Json& rules, const TaskEntry& entry) {
  const auto read = [&](const Json& given, bool* fresh) {
    return documented([&](JsonReader& reader) { *fresh = entry.read(reader, {.batch = 1}).fresh; }, given);
  };
  bool by_default = false, ignored = false;
  const std::vector<OptionDoc> plain = read(Json::object(), &by_default);
  const bool can_choose =
      std::ranges::any_of(plain, [](const OptionDoc& option) { return option.key == "fresh"; });
  for (const bool fresh : {false, true}) {
    if (!can_choose && fresh != by_default) continue;
    const Json data = named_options("task", can_choose ? read({{"fresh", fresh}}, &ignored) : plain);
    Json is_task = {{"task", {{"const", entry.name}}}};
    Json condition = {{"type", "object"}, {"required", Json::array({"task"})}};
    if (can_choose) {
      is_task["fresh"] = {{"const", fresh}};
      if (fresh != by_default) condition["required"].push_back("fresh");
    }
    condition["properties"] = is_task;
    rules.push_back({{"if", {{"properties", {{"data", condition}}}, {"required", Json::array({"data"})}}},
                     {"then",
                      {{"properties",
                        {{"data", data},
                         {"train", reference_schema(fresh ? "train_with_steps" : "train_with_epochs")}}}}}});
  }
}

Json train_schema(bool fresh) {
  return or_null(schema_of_options(described(kTrainOptions, TrainOptions{.fresh = fresh})));
}

Json schedule_schema() {
  const NamedSchemas many = typed(schedules());
  Json schema = one_of_many("type", many, false);
  const auto constant = std::ranges::find(many, "constant", &NamedSchemas::value_type::first);
  schema["allOf"].push_back(
      {{"if", {{"not", {{"required", Json::array({"type"})}}}}}, {"then", constant->second}});
  return or_null(schema);
}

/// A name, or an object with the settings of the loss that it names.
Json loss_schema() {
  NamedSchemas many;
  for (const LossRow& entry : losses())
    many.emplace_back(entry.name, named_options("type", options_of(entry.loss)));
  return or_null(either_schema({Json{{"enum", names_of(losses())}}, one_of_many("type", many, true)}));
}

/// The name of a metric, or that of a metric of one class with its number or name.
Json metric_schema() {
  std::string stems;
  for (const ClassMetricEntry& entry : class_metrics())
    stems += text_of(stems.empty() ? "" : "|", entry.stem.substr(0, entry.stem.size() - 1));
  const Json of_class = {{"type", "string"},
                         {"pattern", text_of("^(", stems, R"()(_(0|[1-9][0-9]{0,5})|\[.+\])$)")}};
  return either_schema({Json{{"enum", names_of(metrics())}}, of_class});
}

}  // namespace

Json experiment_schema() {
  Json rules = Json::array();
  for (const TaskEntry& entry : tasks()) add_task_rules(rules, entry);
  const Json has_cells = {{"required", Json::array({"cells"})},
                          {"properties", {{"cells", {{"type", "object"}}}}}};
  rules.push_back({{"if", has_cells},
                   {"then", {{"properties", {{"model", model_schema(true)}}}}},
                   {"else", {{"properties", {{"model", model_schema(false)}}}}}});
  const Json metric_list = {{"type", "array"}, {"items", metric_schema()}, {"uniqueItems", true}};
  const Json own_cells = {{"type", "object"},
                          {"propertyNames", {{"not", {{"enum", names_of(cells())}}}}},
                          {"additionalProperties", reference_schema("cell_definition")}};
  Json properties = {
      {"$schema", Json::object()},
      {"name", {{"type", "string"}, {"pattern", kName}, {"description", "names the run folder"}}},
      {"seed", integer_schema(at_least(0))},
      {"data",
       {{"type", "object"},
        {"properties", {{"task", {{"enum", names_of(tasks())}}}, {"fresh", {{"type", "boolean"}}}}},
        {"required", Json::array({"task"})}}},
      {"cells", or_null(own_cells)},
      {"model", {{"type", "object"}}},
      {"loss", loss_schema()},
      {"metrics", or_null(metric_list)},
      {"optimizer", or_null(one_of_many("type", typed(optimizers()), true))},
      {"schedule", schedule_schema()},
      {"train", Json::object()}};
  Json definitions = {{"initializer", initializer_schema()},
                      {"cell_definition", cell_definition()},
                      {"cell", cell_layer(false)},
                      {"cell_or_own", cell_layer(true)},
                      {"layer", any_layer(false)},
                      {"layer_or_own", any_layer(true)},
                      {"train_with_epochs", train_schema(false)},
                      {"train_with_steps", train_schema(true)}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "An experiment of lagtape"},
          {"type", "object"},
          {"properties", properties},
          {"required", Json::array({"name", "data", "model"})},
          {"additionalProperties", false},
          {"allOf", rules},
          {"$defs", definitions}};
}

}  // namespace lagtape
