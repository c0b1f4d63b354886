#include "lagtape/tests/cells/support/cell_row.h"

#include <algorithm>

#include "lagtape/cells/equation_cell.h"
#include "lagtape/core/io/json_file.h"

namespace lagtape::test {
namespace {

const std::filesystem::path kRows = source_folder() / "tests" / "cells" / "rows";

template <class Read>
void for_each_of(JsonReader& row, const std::string& key, Read read) {
  const Json& list = row.raw(key, "");
  if (!list.is_array() || list.empty()) row.error(key, "expected a list that is not empty.");
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.size(); ++i) {
    JsonReader entry(list[i], text_of(row.pointer_to(key), "/", i), row.errors());
    read(entry, list[i]);
  }
}

Json object_of(JsonReader& reader, const std::string& key) {
  const Json& object = reader.raw(key, "");
  if (!object.is_object()) reader.error(key, "expected an object.");
  return object;
}

std::vector<std::string> read_names(JsonReader& reader, const std::string& key) {
  const Json& names = reader.raw(key, "");
  if (names.is_null()) return {};
  if (names.is_array()) return names.get<std::vector<std::string>>();
  reader.error(key, "expected a list of names.");
  return {};
}

CellRow::Count read_count(JsonReader& reader) {
  CellRow::Count count{object_of(reader, "options")};
  reader.required("input", count.input, at_least(1), "");
  reader.required("outputs", count.outputs, at_least(0), "");
  reader.required("count", count.count, at_least(1), "");
  reader.finish();
  return count;
}

CellRow::Equations read_equations(JsonReader& reader) {
  CellRow::Equations equations{object_of(reader, "options"), 0, {}, {}};
  reader.optional("layer", equations.layer, at_least(0), "");
  equations.real = read_names(reader, "real");
  equations.definition = object_of(reader, "definition");
  reader.finish();
  return equations;
}

}  // namespace

std::filesystem::path source_folder() { return LAGTAPE_SOURCE; }

CellRow read_row(const std::string& cell) {
  const std::filesystem::path path = kRows / (cell + ".json");
  if (!std::filesystem::exists(path))
    throw Error(text_of("the cell '", cell, "' has no row ", path.string(), "."));
  const Json value = read_json(path);

  CellRow row;
  JsonErrors errors;
  JsonReader reader(value, "", errors);
  for_each_of(reader, "options", [&](JsonReader&, const Json& options) { row.options.push_back(options); });
  reader.required("parameters", row.parameters, "");
  row.not_of_the_step = read_names(reader, "not_of_the_step");
  row.no_gradient = read_names(reader, "no_gradient");
  for_each_of(reader, "counts",
              [&](JsonReader& entry, const Json&) { row.counts.push_back(read_count(entry)); });
  // A cell of cells/written is its equations.
  if (reader.has("equations") ||
      !std::filesystem::exists(source_folder() / "cells" / "written" / (cell + ".h")))
    for_each_of(reader, "equations",
                [&](JsonReader& entry, const Json&) { row.equations.push_back(read_equations(entry)); });
  reader.finish();
  errors.raise(path.string());
  return row;
}

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kRows))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

BuildLayer read_entry(const LayerEntry& entry, JsonReader& reader) {
  if (entry.read_around == nullptr) return entry.read(reader);
  return entry.read_around(reader, [](JsonReader& around, const std::string& key) {
    Json cell = around.raw(key, "the cell inside");
    const std::string name = cell["cell"].get<std::string>();
    cell.erase("cell");
    JsonReader inside(cell, around.pointer_to(key), around.errors());
    const BuildLayer build = read_entry(*find_named(cells(), name), inside);
    inside.finish();
    return build;
  });
}

std::vector<Layer> build_cell(const std::string& cell, const Json& options, std::int64_t input) {
  JsonErrors errors;
  JsonReader reader(options, "", errors);
  const BuildLayer build = read_entry(*find_named(cells(), cell), reader);
  reader.finish();
  errors.raise(text_of(cell, " ", options.dump()));
  return build(input).layers;
}

Layer build_equations(const CellRow::Equations& equations, std::int64_t input, bool real_as_weights) {
  Json definition = equations.definition;
  const Json& sizes = equations.options.contains("of") ? equations.options["of"] : equations.options;
  Json options = {{"units", sizes["units"]}};
  if (equations.options.contains("arithmetic")) options["arithmetic"] = equations.options["arithmetic"];
  for (const auto& [name, value] : equations.options.items())
    if (definition.contains("hyper") && definition["hyper"].contains(name)) options[name] = value;
  if (real_as_weights) {
    for (const std::string& name : equations.real) {
      definition["hyper"].erase(name);
      options.erase(name);
      definition["weights"][name] = Json::array();
    }
  }
  JsonErrors errors;
  JsonReader reader(definition, "/definition", errors), layer(options, "/options", errors);
  const CellDefinition cell = read_cell_definition(reader);
  const BuildLayer build = read_equation_layer(cell, layer);
  layer.finish();
  errors.raise("equations");
  return build(input).layers.front();
}

}  // namespace lagtape::test
