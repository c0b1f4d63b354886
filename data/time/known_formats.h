#pragma once

#include <span>

#include "lagtape/data/time/time_pattern.h"

namespace lagtape {

/// A way to write dates that is found without being named.
struct KnownFormat {
  TimePattern pattern;
  bool takes_clock = false;  ///< a time of day may follow
  /// Digits alone could be any number, and are dates of fewer years.
  int first_year = kFirstYear, last_year = kLastYear;

  bool is_rare = false;  ///< taken where no other date is read, as it is hardly used

  bool is_number() const { return first_year != kFirstYear; }
};

/// All of them. Only day and month in another order may read the same texts.
std::span<const KnownFormat> known_formats();

}  // namespace lagtape
