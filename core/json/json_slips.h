#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lagtape {

/// What a text that is no JSON seems to be at the place of its syntax error: Python, YAML, TOML, a missing comma. A sentence;
/// empty where that is not known. `key`: what is missing stands behind a key.
std::string slip_in_json(std::string_view text, std::size_t offset, bool key);

}  // namespace lagtape
