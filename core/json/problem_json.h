#pragma once

#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"

namespace lagtape {

/// {"problems": [{"place": {"file", "line", "column", "pointer", "item", "excerpt", "op"}, "rule", "message",
/// "statement", "found", "expected", "hint", "nearest"}]}: empty fields are left out of the place, and null elsewhere.
/// "message" is the text without the place.
Json json_of(const std::vector<Problem>& problems);

/// The problems in such an object from a file. Throws InputError for any other object.
std::vector<Problem> problems_in(const Json& json, const std::string& file);

}  // namespace lagtape
