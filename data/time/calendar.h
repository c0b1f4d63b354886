#pragma once

#include <array>
#include <string_view>

namespace lagtape {

/// The angle of a date in a period, as two inputs: its sine and its cosine.
struct CalendarInput {
  std::string_view name;
  double seconds;  ///< length of the period
  double origin;   ///< a time, in seconds since 1970, at which the angle is 0

  double angle(double time) const;
};

/// 1970-01-05 was a Monday. A year has 365.2425 days.
inline constexpr std::array kCalendar = {
    CalendarInput{"hour", 86400.0, 0.0},
    CalendarInput{"weekday", 7 * 86400.0, 4 * 86400.0},
    CalendarInput{"year", 365.2425 * 86400.0, 0.0},
};

/// The entry with that name, which must be one of kCalendar.
const CalendarInput& calendar_input(std::string_view name);

}  // namespace lagtape
