#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lagtape/data/time/instant.h"

namespace lagtape {

/// The time of a text.
struct ReadTime {
  Instant time = 0;                         ///< local if there is no offset
  std::optional<std::int64_t> offset = {};  ///< seconds by which its clock is ahead of UTC
  bool is_date = false;                     ///< no time of day was written
};

/// The parts of a time as written in texts.
struct TimeParts {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0;
  int digits = 0;          ///< digits of a fractional second, 9 at most
  int day_of_year = 0;     ///< 0: month and day are given
  int week = 0;            ///< the ISO 8601 week, with `year` an ISO year; 0: month and day are given
  int weekday = 1;         ///< day of that week, from 1 for Monday
  int named_weekday = -1;  ///< the weekday in the text, from 0 for Monday; -1: none
  int half = -1;           ///< 0 for AM, 12 for PM; -1: 24-hour clock
  bool has_offset = false;
  std::int64_t offset = 0;  ///< seconds ahead of UTC

  /// The instant, local without an offset. Empty for a date that does not exist or lies outside
  /// kFirstYear..kLastYear.
  std::optional<Instant> instant() const;
  std::optional<ReadTime> read(bool is_date) const;
};

/// Parts that texts in one format may write in several ways, as bits.
enum TextStyle : std::uint32_t {
  kOneDigit = 1 << 0,     ///< days and months below 10 without a leading zero
  kLongMonth = 1 << 1,    ///< January, not Jan
  kCapitals = 1 << 2,     ///< JAN
  kWithClock = 1 << 3,    ///< a time of day
  kLetterT = 1 << 4,      ///< T before the time of day
  kColonBefore = 1 << 5,  ///< a colon there
  kPacked = 1 << 6,       ///< 1300, not 13:00
  kPoints = 1 << 7,       ///< 13.00
  kMinutes = 1 << 8,
  kSeconds = 1 << 9,
  kComma = 1 << 10,     ///< a comma before a fraction
  kHalfDays = 1 << 11,  ///< AM and PM
  kSmallHalf = 1 << 12,
  kNoBlankHalf = 1 << 13,   ///< 1:00PM
  kOneDigitHour = 1 << 14,  ///< hours below 10 without a leading zero
  kZulu = 1 << 15,
  kUtcWord = 1 << 16,
  kGmtWord = 1 << 17,
  kOffsetColon = 1 << 18,  ///< +01:00
  kOffsetPlain = 1 << 19,  ///< +0100
  kOffsetHours = 1 << 20,  ///< +01
  kOffsetBlank = 1 << 21,
  kUnderscore = 1 << 22,  ///< _ before the time of day
};

/// Seconds ahead of UTC in the usual notation: "+01:00", "-05:30".
std::string offset_text(std::int64_t seconds, std::string_view between = ":");

// Each removes a part from the start of a text and adds its form to `style`. False if there is none.

bool take_fraction(std::string_view& text, TimeParts& parts);
/// AM or PM, including "a.m." and "a. m.".
bool take_half(std::string_view& text, TimeParts& parts, std::uint32_t& style);
/// "Z", "UTC", "+01:00", "+0100", "CEST", ...
bool take_offset(std::string_view& text, TimeParts& parts, std::uint32_t& style);

}  // namespace lagtape
