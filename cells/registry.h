#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/core/named.h"

namespace lagtape {

struct OptionDoc;

using LayerEntries = std::span<const std::reference_wrapper<const LayerEntry>>;

LayerEntries cells();            ///< recurrent layers: {"cell": NAME, ...}
LayerEntries per_step_layers();  ///< layers that see one step at a time: {"layer": NAME, ...}
LayerEntries sequence_layers();  ///< layers that see whole sequences: {"layer": NAME, ...}

/// The options with their defaults, in reading order.
std::vector<OptionDoc> options_of(const LayerEntry& entry);

}  // namespace lagtape
