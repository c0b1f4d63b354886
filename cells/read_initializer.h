#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lagtape/cells/initializer.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// One row an initializer that a user may name.
struct InitializerEntry {
  struct Number {
    std::string_view key, about;
    double fallback = 0;
    Range range = {};
  };
  std::string_view name;
  std::string_view summary;
  std::string_view source;   ///< paper; empty: none
  std::string_view formula;  ///< of a weight W, with the numbers by their keys
  Initializer::Kind kind;
  Number a = {}, b = {};                                                   ///< no key: not asked for
  void (*finish)(JsonReader& reader, Initializer& initializer) = nullptr;  ///< checks, or what follows

  /// Reads the numbers (all but "type") and notes errors in the reader; does not call finish.
  Initializer read(JsonReader& reader) const;
};

std::span<const InitializerEntry> initializers();

/// Reads "zeros", "orthogonal", ... or an object with "type" and its numbers, or a number, which is a
/// constant. Notes errors at the pointer. `filled`, unless null, becomes the object with every default.
Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors,
                             Json* filled = nullptr);

}  // namespace lagtape
