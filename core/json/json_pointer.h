#pragma once

#include <string>
#include <string_view>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// A key as part of a JSON Pointer: "/" and the escaped key.
std::string pointer_part(std::string_view key);

/// The value at a JSON Pointer, or null if there is none: Json::find_pointer for read-only values.
const Json& value_at(const Json& json, std::string_view pointer);

}  // namespace lagtape
