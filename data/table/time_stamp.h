#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lagtape {

/// The last time that a recording may have, in seconds since 1970: the end of the year 9999. Milliseconds lie beyond it.
inline constexpr double kLatestTime = 253402300799.0;

/// A time as a text gives it.
struct TimeStamp {
  double seconds = 0;                 ///< since 1970, in UTC
  bool is_date = false;               ///< the text is a date rather than a number
  std::optional<double> offset = {};  ///< seconds by which its clock is ahead of UTC, where the text says so
};

/// Reads a time: an ISO 8601 date ("2024-01-31", "2024-01-31 13:00", "2024-01-31T13:00:00.5+02:00"; without an
/// offset it is UTC), or a number of seconds since 1970. Returns nothing for other texts.
std::optional<TimeStamp> parse_time_stamp(std::string_view text);

/// An offset from UTC as dates have it: "+01:00", "-05:30", "Z".
std::string text_of_offset(double seconds);

/// The ISO date of a time in UTC: "2024-01-31", or with the time of day "2024-01-31T13:00:00", with milliseconds
/// where there are any.
std::string iso_date_of(double seconds, bool with_time_of_day);
/// Whether a time is a midnight in UTC.
bool is_midnight(double seconds);

}  // namespace lagtape
