#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/instant.h"

namespace lagtape {

/// From one step to the next.
struct Frequency {
  enum class Unit : std::uint8_t {
    nanosecond,  ///< the same time everywhere: 15min, 1h
    local,       ///< nanoseconds on the local clock: a day, which has 23 hours if the clock skips one
    business,    ///< Monday to Friday, except for holidays
    month,
  };
  static constexpr int kLastDay = 32, kFirstBusinessDay = 33, kLastBusinessDay = 34;

  Unit unit = Unit::nanosecond;
  std::int64_t count = kOneSecond;  ///< units per step
  /// For months: that day, or the last if a month has fewer days; kLastDay, kFirstBusinessDay,
  /// kLastBusinessDay; 0: the rows decide.
  int day = 0;
  /// For weeks the weekday, from 0 for Monday; for several months the first month of a year that contains a
  /// step, from 0 for January; -1: the rows decide, or the usual month of that day.
  int anchor = -1;

  /// Whether a day of the month has a name: the first, the last, or the first or last business day.
  static constexpr bool is_named_day(int day) { return day <= 1 || day >= kLastDay; }
  /// Reads "15min", "1h", "h", "2D", "business", "1W", "1W-SUN", "month_start", "month_end", "month-15",
  /// "quarter", "quarter_end", "year_start-JUL", "year-FEB-29", ..., and pandas' names: "MS", "QE-DEC", "B",
  /// "W-SUN", "T". Ordinary names may be plural: "3 months". Throws InputError with the nearest name.
  static Frequency parse(std::string_view text);
  /// The text that reads back to the same frequency.
  std::string name() const;

  /// Calendar periods in steps, the likeliest first: 24 and 168 for hours, 7 for days, 12 for months.
  std::vector<std::int64_t> seasons() const;
  /// The number of steps in a length of time in the same notation; empty if it is not an integer, such as for a
  /// month in days. Days have 24 hours.
  std::optional<std::int64_t> steps_in(const Frequency& length) const;
  bool is_days() const;  ///< all steps have the same time of day
  /// The same at another weekday or month; the usual month of a quarter or a year is omitted.
  Frequency with_anchor(int anchor) const;
  /// Whether the other frequency has rows at the same distance, on any day of a week, month, quarter or year.
  bool same_steps(const Frequency& other) const { return unit == other.unit && count == other.count; }
  bool operator==(const Frequency&) const = default;
};

/// A length of time: "15min", "1h", "90s", "7D".
std::string duration_text(std::int64_t nanoseconds);

}  // namespace lagtape
