#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/initializer.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// A kind of first values that a user may name; the table has one row for each.
struct InitializerEntry {
  struct Number {
    std::string_view key, about;
    double fallback = 0;
    Range range = {};
  };
  std::string_view name;
  std::string_view summary;
  std::string_view source;   ///< paper; empty: none
  std::string_view formula;  ///< the values of a weight W, with the numbers by their keys
  Initializer::Kind kind;
  Number a = {}, b = {};  ///< the numbers of the initializer; one without a key is not asked for
  /// Checks the numbers, or turns them into those of the initializer.
  void (*finish)(JsonReader& reader, Initializer& initializer) = nullptr;

  /// Reads the numbers (all but "type") and notes errors in the reader; does not call finish.
  Initializer read(JsonReader& reader) const;
};

std::span<const InitializerEntry> initializers();

/// Reads "zeros", "orthogonal", ... or an object with "type" and its numbers, or a number, which is a
/// constant. Notes errors at the pointer. `filled`, unless null, becomes the object with every default.
Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors,
                             Json* filled = nullptr);

/// Reads an object of initializers by the names of parameters, which stands at "init". Returns it with every
/// default filled in.
Json read_initial_values(const Json& object, JsonReader& reader, InitialValues& values);

// JSON values from which these can be read.
Json json_of(const Initializer& initializer);
Json json_of(const InitialValues& values);

}  // namespace lagtape
