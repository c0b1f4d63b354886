#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/read_initializer.h"
#include "lagtape/cells/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// What is wrong with an option once the layer is built, and where the option is.
struct OptionError : InputError {
  OptionError(std::string at, const std::string& message) : InputError(message), pointer(std::move(at)) {}
  std::string pointer;  ///< /model/layers/0/init/W9
};

/// First values that a user gives to parameters of a layer, by name, in the place of the cell's own:
///
///     "init": { "W1": "orthogonal", "W1.bias": {"type": "constant", "value": 1}, "0.V": "zeros" }
///
/// Of layers inside a layer, "0.V" is V of the lowest, and "V" that of all which have one; the longer name
/// comes first.
struct InitialValues {
  struct Entry {
    std::string name;
    Initializer initializer;
    std::string pointer;
  };
  std::vector<Entry> entries;

  /// The key "init".
  void read(JsonReader& reader);
  /// An object of such entries, the value of "init". What it returns has every default filled in.
  Json read_object(const Json& value, JsonReader& reader);

  /// Throws OptionError for a parameter that the layer has not, and an initialiser that is not for its shape.
  void apply(LayerGroup& group) const;
};

}  // namespace lagtape
