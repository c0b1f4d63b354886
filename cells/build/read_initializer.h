#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lagtape/cells/build/initializer.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// A kind of initializer that a user may select; the table has one row for each.
struct InitializerEntry {
  struct Number {
    std::string_view key, about;
    double fallback = 0;
    Range range = {};
    double less = 0;  ///< the initializer uses the number minus this
  };
  std::string_view name;
  std::string_view summary;
  std::string_view source;     ///< paper; empty: none
  std::string_view equations;  ///< the values of a weight W, with the numbers referred to by their keys
  Initializer::Kind kind;
  Number a = {}, b = {};  ///< the numbers of the initializer; one without a key is not read

  /// Reads the numbers (all but "type") and notes errors in the reader; does not call finish.
  Initializer read(JsonReader& reader) const;
};

std::span<const InitializerEntry> initializers();

/// Reads "zeros", "orthogonal", ..., an object with "type" and its numbers, or a number, which is a constant.
/// Notes errors at the pointer. `type`, unless null, is set to the name of the kind.
Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors,
                             std::string_view* type = nullptr);

/// The object from which it can be read, of the kind `type` or, if that is empty, the first kind that makes it.
Json json_of(const Initializer& initializer, std::string_view type = {});

}  // namespace lagtape
