#include "lagtape/cells/dilated.h"

#include "lagtape/cells/every_cell.h"

namespace lagtape {
namespace {

/// The cell at "of"; empty when there is none.
BuildLayer read_inner(JsonReader& around) {
  const Json& given = around.raw("of", "the cell, with its options", "object", "");
  if (given.is_null()) {
    around.error("of", R"(is missing, expected a cell, like {"cell": "gru", "units": 50})");
    return {};
  }
  JsonReader reader(given, around.pointer_to("of"), around.errors());
  if (!reader.is_object()) return {};
  std::string name;
  reader.required_choice("cell", name, names_of(cells()), "name");
  const LayerEntry* entry = find_layer(cells(), name);
  if (entry == nullptr) return {};
  BuildLayer build = entry->read(reader);
  reader.finish();
  around.fill("of", reader.filled());
  return build;
}

}  // namespace

BuildLayer read_dilated(JsonReader& reader) {
  const BuildLayer build = read_inner(reader);
  EveryCell every;
  every.arithmetic.reset();
  every.needs_dilations = true;
  every.read(reader);
  return every.apply(build);
}

}  // namespace lagtape
