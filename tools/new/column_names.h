#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace lagtape {

/// Whether one of the words of a column's name, in small letters, is among others: "Fault type" has "fault" and "type".
bool has_word(const std::string& name, std::initializer_list<std::string_view> names);

/// Whether a column is called as parts of a date are, whose values repeat in runs as well.
bool is_called_date(const std::string& name);

}  // namespace lagtape
