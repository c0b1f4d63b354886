#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// Visits the lines of a text, each a JSON object, with their places for messages: "FILE: line 3". A kill can
/// truncate the last line, which is then ignored. Throws InputError for any other line that is not a JSON
/// object.
void for_each_json_line(std::string_view text, const std::filesystem::path& file,
                        const std::function<void(Json row, const std::string& where)>& visit);

/// The same for a file's text; a missing file has no lines.
void for_each_json_line(const std::filesystem::path& file,
                        const std::function<void(Json row, const std::string& where)>& visit);

}  // namespace lagtape
