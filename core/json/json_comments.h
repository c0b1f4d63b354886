#pragma once

#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The value of a JSON text as people write it: with comments (// to the end of the line, /* ... */) and a comma after
/// the last element. Throws as parse_json does, with places in the given text.
Json parse_commented_json(const std::string& text, const std::string& where);

/// The text with spaces in place of comments and of commas after a last element; line breaks stay, so that every other
/// character keeps its line and column. A comment that does not end stays as it is.
std::string without_comments(std::string text);

}  // namespace lagtape
