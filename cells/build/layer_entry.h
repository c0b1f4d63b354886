#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/core/option_table.h"

namespace lagtape {

class JsonReader;

/// The layers of one entry of "layers", from the input up: one, or several if it contains more.
struct LayerGroup {
  std::vector<Layer> layers;
  bool nested = false;  ///< their parameters are named layers.0.1.V instead of layers.0.V
};

/// Builds a layer with known options, given the width of its input. Throws InputError.
using BuildLayer = std::function<LayerGroup(std::int64_t input)>;

/// Reads the layer {"cell": NAME, ...}, built in or user-defined, at a key of another layer.
using ReadInner = std::function<BuildLayer(JsonReader& reader, const std::string& key)>;

/// The description of a kind of layer, defined next to its struct as `kEntry`. The registry lists them.
struct LayerEntry {
  std::string_view name;
  std::string_view kind = "cell";  ///< the key that holds the name in JSON: {"cell": NAME}, {"layer": NAME}
  std::string_view summary;        ///< one line without a period
  std::string_view source;         ///< the paper, and the equation number
  std::string_view equations;      ///< the equations in the paper's notation, one per line
  OptionTable options = {};        ///< its struct's table
  /// Reads the options, which are all keys except "cell" and "layer". Errors are noted in the reader; the
  /// caller calls JsonReader::finish.
  BuildLayer (*read)(JsonReader& reader) = nullptr;
  /// Reads the options of a layer around another one, in place of `read`.
  BuildLayer (*read_around)(JsonReader& reader, const ReadInner& inner) = nullptr;
  /// The inputs are tokens: the layer is built for that many, or 0 if the number is unknown.
  bool takes_tokens = false;
  /// A cell newer than files that may define a cell of the same name; the file's definition then takes
  /// precedence.
  bool yields = false;
};

}  // namespace lagtape
