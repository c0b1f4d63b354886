#pragma once

#include <span>

#include "lagtape/data/time/time_pattern.h"

namespace lagtape {

/// A date format that is recognized without being specified.
struct KnownFormat {
  TimePattern pattern;
  bool takes_clock = false;  ///< a time of day may follow
  /// Bare digits could be any number; they are dates only in a narrower range of years.
  int first_year = kFirstYear, last_year = kLastYear;

  bool is_rare = false;  ///< used only if no other format fits, because it is rare

  bool is_number() const { return first_year != kFirstYear; }
};

/// All of them. Only a format with day and month swapped may read the same texts.
std::span<const KnownFormat> known_formats();

}  // namespace lagtape
