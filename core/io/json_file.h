#pragma once

#include <filesystem>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// The value of a JSON file. Throws as read_text and parse_json do.
Json read_json(const std::filesystem::path& file);

/// The value of a JSON file written by hand, with comments and trailing commas.
Json read_commented_json(const std::filesystem::path& file);

}  // namespace lagtape
