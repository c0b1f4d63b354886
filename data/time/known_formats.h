#pragma once

#include <span>

#include "lagtape/data/time/time_pattern.h"

namespace lagtape {

/// A format of dates that is found without its name.
struct KnownFormat {
  TimePattern pattern;
  bool takes_clock = false;  ///< a time of day may follow
  /// Digits alone could be any number, and are dates of fewer years.
  int first_year = kFirstYear, last_year = kLastYear;

  bool is_rare = false;  ///< used only where no other format fits, because it is rare

  bool is_number() const { return first_year != kFirstYear; }
};

/// All of them. Only a format with day and month exchanged may read the same texts.
std::span<const KnownFormat> known_formats();

}  // namespace lagtape
