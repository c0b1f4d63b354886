#pragma once

#include <string>
#include <vector>

#include "lagtape/data/time/time_zone.h"

namespace lagtape {

/// A round time on a time axis.
struct TimeTick {
  Instant time = 0;
  std::string text;        ///< its smallest part: "06:00", "Mar 10", "Mar" or "2024"
  std::string below = {};  ///< the day or the year that contains it, if it differs from the previous tick's
};

/// The roundest moments of a calendar from `first` to `last`, at most this many: milliseconds, seconds, minutes
/// and hours, days, weeks, months or years of the clock. None for a time without such a step.
std::vector<TimeTick> time_ticks(Instant first, Instant last, int most, const TimeZone& zone);

}  // namespace lagtape
