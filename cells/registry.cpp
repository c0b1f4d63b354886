#include "lagtape/cells/registry.h"

#include "lagtape/cells/cells.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {

LayerEntries cells() { return kCells; }
LayerEntries per_step_layers() { return kPerStepLayers; }
LayerEntries sequence_layers() { return kSequenceLayers; }

const LayerEntry* find_layer(LayerEntries entries, std::string_view name) {
  for (const LayerEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> names_of(LayerEntries entries) {
  std::vector<std::string> names;
  for (const LayerEntry& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::vector<OptionDoc> options_of(const LayerEntry& entry) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  if (entry.read_around) {
    entry.read_around(reader, [](JsonReader& around, const std::string& key) {
      around.document(
          {key, reference_schema("cell"), "", "the cell inside, written like an entry of \"layers\""});
      return BuildLayer();
    });
  } else {
    entry.read(reader);
  }
  return reader.documentation();
}

}  // namespace lagtape
