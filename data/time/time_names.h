#pragma once

#include <initializer_list>
#include <string_view>

namespace lagtape {

/// Whether a word is a usual name of a column of times, in either case: "Date", "timestamp", "ds", "Zeit", "fecha".
bool is_time_name(std::string_view word);

/// Whether one of the words of a name is: "Date (UTC)", "time_local".
bool has_time_name(std::string_view name);

/// Whether one of the words of a name, in small letters, is among others: "Fault type" has "fault" and "type".
bool has_word(std::string_view name, std::initializer_list<std::string_view> words);

/// Whether a column has the name of numbered periods of a day: "SETTLEMENT_PERIOD".
bool is_called_period(std::string_view name);

/// The unit of the column after that of the years.
enum class YearPart : std::uint8_t { month, quarter, week, day };
YearPart year_part_called(std::string_view column);

}  // namespace lagtape
