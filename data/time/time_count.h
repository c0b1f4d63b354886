#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/instant.h"

namespace lagtape {

/// The unit of times that are written as plain numbers. They count from 1970-01-01; days of spreadsheets from 1899-12-30,
/// Julian days from noon of -4712-01-01, modified Julian days from 1858-11-17, MATLAB's datenum from the day before 0000-01-01.
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
/// The unit in the name of a column, such as "MJD", "t_ms" and "Time [h]"; nothing for other names.
std::optional<TimeCount> count_called(std::string_view column);

/// A number as a text writes it.
struct CountText {
  std::int64_t whole = 0;  ///< rounded down
  double fraction = 0;     ///< 0 <= fraction < 1
  int digits = 0;          ///< number of digits of the fraction
};
std::optional<CountText> read_count(std::string_view text);

/// The time of a number, to nanoseconds; for days, to the resolution of `digits` of a fraction: minutes, seconds or
/// milliseconds. Nothing beyond kFirstYear..kLastYear.
std::optional<Instant> instant_of(TimeCount count, std::int64_t whole, double fraction, int digits);
std::string count_text(TimeCount count, Instant time);

/// The unit of the numbers of a column, seconds to nanoseconds or days, with which all are times between 1900 and 2100
/// and one is after 1973 (days of spreadsheets: after 1927); nothing where there is no such unit. The name of the
/// column decides between days of spreadsheets and modified Julian days.
std::optional<TimeCount> plausible_count(std::int64_t lowest, std::int64_t highest, std::string_view column);

}  // namespace lagtape
