#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lagtape {

/// A sentence about the likely slip at a syntax error: Python, YAML or TOML notation, or a missing comma; empty
/// if none is recognized. `key`: the parser had read a key and expected a colon.
std::string slip_in_json(std::string_view text, std::size_t offset, bool key);

}  // namespace lagtape
