#pragma once

#include <filesystem>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The experiment of a model. A model carries it from file to file; cells/ reads the keys that define the
/// model, and only tools/train opens the rest (tools/train/provenance.h).
struct Provenance {
  Json document;
  std::filesystem::path folder = {};  ///< the file's folder until the document is opened; then empty
  /// Returns the document for a file in a folder. Null: the document is the same in every folder.
  Json (*moved_to)(Json document, const std::filesystem::path& folder) = nullptr;
};

}  // namespace lagtape
