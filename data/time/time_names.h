#pragma once

#include <string_view>

namespace lagtape {

/// Whether a word is what people call a column of times, in whatever letters: "Date", "timestamp", "ds", "Zeit", "fecha".
bool is_time_name(std::string_view word);

/// Whether one of the words of a name is: "Date (UTC)", "time_local".
bool has_time_name(std::string_view name);

}  // namespace lagtape
