#pragma once

#include <initializer_list>
#include <string_view>

namespace lagtape {

/// Whether a word is a usual name for a time column, ignoring case: "Date", "timestamp", "ds", "Zeit", "fecha".
bool is_time_name(std::string_view word);

/// Whether one of the words in a name is: "Date (UTC)", "time_local".
bool has_time_name(std::string_view name);

/// Whether one of the words in a name, in lowercase, is among others: "Fault type" contains "fault" and "type".
bool has_word(std::string_view name, std::initializer_list<std::string_view> words);

/// Whether a column's name means numbered periods of a day: "SETTLEMENT_PERIOD".
bool is_called_period(std::string_view name);

/// The unit of the column that follows the year column.
enum class YearPart : std::uint8_t { month, quarter, week, day };
YearPart year_part_called(std::string_view column);

}  // namespace lagtape
