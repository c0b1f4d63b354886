#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/instant.h"

namespace lagtape {

/// The unit of times that are written as plain numbers. They count from 1970-01-01; spreadsheet days from
/// 1899-12-30, Julian days from noon of -4712-01-01, modified Julian days from 1858-11-17, MATLAB's datenum
/// from the day before 0000-01-01.
enum class TimeCount : std::uint8_t {
  seconds,
  milliseconds,
  microseconds,
  nanoseconds,
  minutes,
  hours,
  days,
  spreadsheet_days,
  julian_days,
  modified_julian_days,
  matlab_days,
  hours_since_1900
};

std::string_view name_of(
    TimeCount
        count);  ///< "seconds", ..., "spreadsheet", "julian_days", "modified_julian_days", "matlab_days", ...
std::optional<TimeCount> count_named(std::string_view name);
std::vector<std::string> names_of_counts();
/// The unit in a column name, such as "MJD", "t_ms" and "Time [h]"; empty for other names.
std::optional<TimeCount> count_called(std::string_view column);

/// A number as written in a text.
struct CountText {
  std::int64_t whole = 0;  ///< rounded down
  double fraction = 0;     ///< 0 <= fraction < 1
  int digits = 0;          ///< number of digits of the fraction
};
std::optional<CountText> read_count(std::string_view text);

/// The time of a number, to nanoseconds; for days, to the resolution of a fraction with `digits` digits:
/// minutes, seconds or milliseconds. Empty outside kFirstYear..kLastYear.
std::optional<Instant> instant_of(TimeCount count, std::int64_t whole, double fraction, int digits);
std::string count_text(TimeCount count, Instant time);

/// The unit of the numbers of a column, seconds to nanoseconds or days, for which all are times between 1900
/// and 2100 and one is after 1973 (spreadsheet days: after 1927); empty if there is no such unit. The column's
/// name decides between spreadsheet days and modified Julian days.
std::optional<TimeCount> plausible_count(std::int64_t lowest, std::int64_t highest, std::string_view column);

}  // namespace lagtape
