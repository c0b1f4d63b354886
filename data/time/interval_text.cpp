#include "lagtape/data/time/interval_text.h"

#include <algorithm>

#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

std::string_view plain_hour(std::string_view hour) {
  hour.remove_prefix(std::min(hour.find_first_not_of("HEhe"), hour.size()));
  const std::size_t end = hour.find_first_not_of("0123456789");
  const std::size_t until = hour.find('-');
  const bool is_interval = until != hour.npos && until > 0 && end != hour.npos &&
                           hour.substr(end).find_first_not_of(" -0123456789") == hour.npos;
  return is_interval ? hour.substr(0, end) : hour;
}

std::size_t end_of_interval(std::string_view text) {
  constexpr std::string_view kUntil = " - ";
  constexpr std::size_t kDate = 10;
  const std::size_t until = text.find(kUntil);
  if (until == text.npos || until < kDate || until + kUntil.size() >= text.size()) return text.npos;
  const std::string_view end = text.substr(until + kUntil.size());
  const bool has_clock = text.substr(0, until).find(':') != text.npos;
  return end.front() >= '0' && end.front() <= '9' && (end.size() >= kDate || has_clock) ? until : text.npos;
}

ClockInterval clock_interval_of(std::string_view text) {
  constexpr std::size_t kSize = 11;
  if (text.size() < kSize) return {};
  const std::string_view clocks = text.substr(text.size() - kSize);
  const auto minutes = [&](std::size_t at) {
    const int hour = two_digits(clocks.data() + at), minute = two_digits(clocks.data() + at + 3);
    return clocks[at + 2] == ':' && hour >= 0 && minute >= 0 ? 60 * hour + minute : -1;
  };
  const ClockInterval found{text.size() - kSize + 5, minutes(0), minutes(6)};
  return clocks[5] == '-' && found.begin >= 0 && found.end >= 0 ? found : ClockInterval{};
}

}  // namespace lagtape
