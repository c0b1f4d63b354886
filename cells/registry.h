#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

struct OptionDoc;

using LayerEntries = std::span<const std::reference_wrapper<const LayerEntry>>;

LayerEntries cells();            ///< recurrent layers: {"cell": NAME, ...}
LayerEntries per_step_layers();  ///< layers that see one step at a time: {"layer": NAME, ...}
LayerEntries sequence_layers();  ///< layers that see whole sequences: {"layer": NAME, ...}

/// The layer of that name; null when there is none.
const LayerEntry* find_layer(LayerEntries entries, std::string_view name);
std::vector<std::string> names_of(LayerEntries entries);
/// The options with their defaults, in the order in which they are read.
std::vector<OptionDoc> options_of(const LayerEntry& entry);

}  // namespace lagtape
