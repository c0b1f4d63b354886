#pragma once

#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The value of a JSON text written by hand: with comments (// to the end of the line, /* ... */) and a comma
/// after the last element. Throws as parse_json does, with positions in the given text.
Json parse_commented_json(const std::string& text, const std::string& where);

/// The text with spaces in place of comments and trailing commas; line breaks stay, so every other character
/// keeps its line and column. An unterminated comment is left as it is.
std::string without_comments(std::string text);

}  // namespace lagtape
