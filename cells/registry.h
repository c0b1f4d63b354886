#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "lagtape/cells/cell.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// What one entry of "layers" stands for: a layer, or several inside it, from the input up.
struct LayerGroup {
  std::vector<Layer> layers;
  bool nested = false;  ///< names are layers.0.1.V instead of layers.0.V
};

/// A layer whose options were read, before the width of its input is known. Throws InputError.
using BuildLayer = std::function<LayerGroup(std::int64_t input)>;

/// Reads the layer {"cell": NAME, ...}, built in or the user's, that stands at a key of another layer.
using ReadInner = std::function<BuildLayer(JsonReader& reader, const std::string& key)>;

/// One row a layer.
struct LayerEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;     ///< paper, equation
  std::string_view equations;  ///< as in the paper, one a line
  /// Reads the options (all but "cell" and "layer") and notes errors in the reader; does not call finish.
  BuildLayer (*read)(JsonReader& reader);
  /// Its input is tokens: `read`'s function is given their number, 0 where it is not known.
  bool takes_tokens = false;
  /// In place of `read`, for a layer around another.
  BuildLayer (*read_around)(JsonReader& reader, const ReadInner& inner) = nullptr;
};

std::span<const LayerEntry> cells();            ///< recurrent: {"cell": NAME, ...}
std::span<const LayerEntry> per_step_layers();  ///< of a step alone: {"layer": NAME, ...}
std::span<const LayerEntry> sequence_layers();  ///< of whole sequences: {"layer": NAME, ...}

/// Null when there is none.
const LayerEntry* find_layer(std::span<const LayerEntry> entries, std::string_view name);
std::vector<std::string> names_of(std::span<const LayerEntry> entries);
/// The options with their defaults, as `read` asks for them.
std::vector<OptionDoc> options_of(const LayerEntry& entry);

}  // namespace lagtape
