#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

// The types of options as JSON Schemas.
Json integer_schema(const Range& range);
Json number_schema(const Range& range);
Json text_schema(const Expected& expected);
Json list_schema(Json of, std::size_t least = 0);
Json object_schema_of(Json of);                           ///< an object with any keys and such values
Json reference_schema(const std::string& name);           ///< the definition of that name in the schema
Json either_schema(std::initializer_list<Json> schemas);  ///< any of them
Json or_null(Json schema);

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

/// The schema of a value that JsonReader::read accepts. An optional list may be null.
template <class T>
Json schema_of(Expected expected) {
  if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return integer_schema(expected.range);
  } else if constexpr (std::same_as<T, double>) {
    return number_schema(expected.range);
  } else if constexpr (std::same_as<T, std::string>) {
    return text_schema(expected);
  } else {
    const std::size_t least = std::exchange(expected.least, 0);
    Json list = list_schema(schema_of<typename T::value_type>(expected), least);
    return expected.is_required ? list : or_null(std::move(list));
  }
}

/// An object with exactly these options; those without a default are required.
Json schema_of_options(const std::vector<OptionDoc>& options);

/// A schema in words: "integer >= 1", "list of number | null", {"max": integer >= 1, "each"?: "layer" | "unit"}.
/// In a sentence, a list is one of integers, numbers or strings.
std::string type_words(const Json& schema, bool in_sentence = false);

}  // namespace lagtape
