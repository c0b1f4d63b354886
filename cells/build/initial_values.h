#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/cells/build/initializer.h"
#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// User-defined initial values of a layer's parameters, by name, instead of the cell's own:
///
///     "init": { "W1": "orthogonal", "W1.bias": {"type": "constant", "value": 1}, "0.V": "zeros" }
///     InitialValues{{{"W1", Initializer::orthogonal()}, {"W1.bias", Initializer::constant(1)}}}
///
/// If a layer makes several, "0.V" is the V of the lowest, and "V" is the V of every layer that has one. The
/// longer name wins.
struct InitialValues {
  struct Entry {
    std::string name;
    Initializer initializer;
    std::string pointer = {};    ///< its place in a JSON text: /model/layers/0/init/W9; empty in C++
    std::string_view type = {};  ///< the name of its kind there; empty: the first kind that makes it
  };
  std::vector<Entry> entries = {};

  /// Throws InputError for a parameter that the layer lacks, and for an initializer that does not suit the
  /// parameter's shape.
  void apply(LayerGroup& group) const;
};

}  // namespace lagtape
