#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "lagtape/core/problem.h"

namespace lagtape {

/// A point in time: nanoseconds since 1970 in UTC. The time on a place's clock is counted in the same way, as
/// if it were UTC, and is called a local time.
using Instant = std::int64_t;

inline constexpr std::int64_t kOneSecond = 1'000'000'000, kOneMinute = 60 * kOneSecond,
                              kOneHour = 60 * kOneMinute, kOneDay = 24 * kOneHour;
/// The whole years that fit in an Instant.
inline constexpr int kFirstYear = 1678, kLastYear = 2261;

/// The largest number of seconds since 1970 that is taken for a time, the end of the year 9999. Milliseconds
/// lie beyond it.
inline constexpr double kLatestTime = 253402300799.0;

/// The place of a row of a column, for messages.
using PlaceOfRow = std::function<Place(std::int64_t row)>;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a % b + (a % b < 0 ? b : 0); }

/// The day of the Gregorian calendar, counted from 1970. The day may be any number, counted from the first of
/// the month.
constexpr std::int64_t day_of(int year, int month, int day) {
  return std::chrono::sys_days(std::chrono::year(year) / month / 1).time_since_epoch().count() + day - 1;
}
/// The date of a day counted from 1970.
constexpr std::chrono::year_month_day date_of(std::int64_t day) {
  return std::chrono::sys_days(std::chrono::days(day));
}
constexpr int days_in_month(int year, int month) {
  const auto last = std::chrono::year(year) / month / std::chrono::last;
  return static_cast<int>(static_cast<unsigned>(last.day()));
}
/// 0 is Monday.
constexpr int weekday_of(std::int64_t day) { return static_cast<int>(floor_mod(day + 3, 7)); }

/// Seconds since 1970, rounded to a double.
constexpr double seconds_of(Instant time) {
  return static_cast<double>(floor_div(time, kOneSecond)) +
         static_cast<double>(floor_mod(time, kOneSecond)) / 1e9;
}
/// The nearest instant, whose year must be one of kFirstYear..kLastYear.
inline Instant instant_of(double seconds) {
  const double whole = std::floor(seconds);
  return static_cast<std::int64_t>(whole) * kOneSecond + std::llround((seconds - whole) * 1e9);
}

}  // namespace lagtape
