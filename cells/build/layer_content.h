#pragma once

#include <string>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// The contents of a LayerDefinition.
struct LayerContent {
  std::string name;  ///< "tau_gru", or the name of a user's own cell
  BuildLayer build;
  bool takes_tokens = false;
  Json json;  ///< the layer as written in a file, with every default: {"cell": "tau_gru", "units": 16, ...}
};

}  // namespace lagtape
