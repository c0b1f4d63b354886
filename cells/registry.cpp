#include "lagtape/cells/registry.h"

#include "lagtape/cells/cells.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {

LayerEntries cells() { return kCells; }
LayerEntries per_step_layers() { return kPerStepLayers; }
LayerEntries sequence_layers() { return kSequenceLayers; }

std::vector<OptionDoc> options_of(const LayerEntry& entry) {
  return documented([&](JsonReader& reader) {
    if (entry.read_around == nullptr) return void(entry.read(reader));
    entry.read_around(reader, [](JsonReader& around, const std::string& key) {
      around.document(
          {key, reference_schema("cell"), "", "the cell inside, written like an entry of \"layers\""});
      return BuildLayer();
    });
  });
}

}  // namespace lagtape
