#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lagtape {

/// A sentence that names the likely slip at the place of a syntax error: Python's or YAML's or TOML's notation, or a missing
/// comma; empty where none is recognized. `key`: the parser had read a key and expected a colon.
std::string slip_in_json(std::string_view text, std::size_t offset, bool key);

}  // namespace lagtape
