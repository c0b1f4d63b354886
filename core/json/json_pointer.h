#pragma once

#include <string>
#include <string_view>

namespace lagtape {

/// A key as a part of a JSON Pointer: "/" and the key, escaped.
std::string pointer_part(std::string_view key);

}  // namespace lagtape
