#pragma once

#include <cstddef>
#include <string_view>

namespace lagtape {

/// Hours without the text around their start: the letters of HE1 and H01, and the end of "00 - 01".
std::string_view plain_hour(std::string_view hour);

/// The position where the end of an interval starts, as in "01.01.2024 00:00 - 01.01.2024 01:00" and
/// "01.01.2024 00:00 - 01:00"; npos: none.
std::size_t end_of_interval(std::string_view text);

/// The minutes of the day at which "00:00-01:00" at the end of a text starts and ends.
struct ClockInterval {
  std::size_t until = std::string_view::npos;  ///< the position of the dash between them
  int begin = -1, end = -1;

  int length() const { return (end - begin + 1440) % 1440; }
};
ClockInterval clock_interval_of(std::string_view text);

}  // namespace lagtape
