#pragma once

#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// The JSON Schema of a type as the documentation of options writes it:
///
///     type    := one, then any number of ( | one )
///     one     := "text" | integer bounds | number bounds | boolean | string | null | value | object | object of one
///              | list | list of one | list of 1 or more one | ( type ) | { "key": type, "key"?: type }
///     bounds  := nothing | > NUMBER | >= NUMBER | <= NUMBER | >= NUMBER and <= NUMBER
///
/// Throws Error for a text that is none.
Json schema_of_type(const std::string& type);

/// An object with these options and no others; those without a default are required.
Json schema_of_options(const std::vector<OptionDoc>& options);

}  // namespace lagtape
