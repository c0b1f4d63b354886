#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

// The types of options as JSON Schemas.
Json integer_schema(const Range& range);
Json number_schema(const Range& range);
Json list_schema(Json of, std::size_t least = 0);
Json object_schema_of(Json of);                           ///< an object with any keys and such values
Json reference_schema(const std::string& name);           ///< what stands among the schema's definitions
Json either_schema(std::initializer_list<Json> schemas);  ///< one of them

/// An object with these options and no others; those without a default are required.
Json schema_of_options(const std::vector<OptionDoc>& options);

/// A schema in words: "integer >= 1", "list of number | null", {"max": integer >= 1, "each"?: "layer" | "unit"}.
/// In a sentence, a list is one of integers, numbers or strings.
std::string type_words(const Json& schema, bool in_sentence = false);

}  // namespace lagtape
