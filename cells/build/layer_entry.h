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

/// The layers of one entry of "layers", from the input up: one, or several inside it.
struct LayerGroup {
  std::vector<Layer> layers;
  bool nested = false;  ///< their parameters are named layers.0.1.V instead of layers.0.V
};

/// A layer whose options are known, before the width of its input is. Throws InputError.
using BuildLayer = std::function<LayerGroup(std::int64_t input)>;

/// Reads the layer {"cell": NAME, ...}, built in or the user's, at a key of another layer.
using ReadInner = std::function<BuildLayer(JsonReader& reader, const std::string& key)>;

/// The description of a kind of layer, beside its struct as `kEntry`. The registry lists them.
struct LayerEntry {
  std::string_view name;
  std::string_view kind = "cell";  ///< the key at which JSON gives the name: {"cell": NAME}, {"layer": NAME}
  std::string_view summary;        ///< one line without a full stop
  std::string_view source;         ///< the paper, and the number of its equation
  std::string_view equations;      ///< the equations in the letters of the paper, one a line
  OptionTable options = {};        ///< the table of its struct
  /// Reads the options, which are all keys except "cell" and "layer". Errors are noted in the reader, and
  /// JsonReader::finish is left to the caller.
  BuildLayer (*read)(JsonReader& reader) = nullptr;
  /// Reads the options of a layer around another one, in place of `read`.
  BuildLayer (*read_around)(JsonReader& reader, const ReadInner& inner) = nullptr;
  /// The inputs are tokens: the layer is built for their number, 0 where that is not known.
  bool takes_tokens = false;
  /// A cell that is newer than files that may define one by its name; theirs is used then.
  bool yields = false;
};

}  // namespace lagtape
