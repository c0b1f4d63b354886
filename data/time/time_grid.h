#pragma once

#include <optional>
#include <vector>

#include "lagtape/data/time/frequency.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

/// Where dates of a calendar are, and which of them are not business days.
struct TimeCalendar {
  TimeZone zone = {};
  std::vector<std::int64_t> holidays = {};  ///< days since 1970
};

/// The days of holidays that would be business days without them, sorted.
std::vector<std::int64_t> business_holidays(std::vector<std::int64_t> holidays);
/// The day of a month's step: `day` as of a Frequency, `holidays` as business_holidays gives them.
std::int64_t day_of_month(int year, int month, int day, const std::vector<std::int64_t>& holidays);

/// The steps of a frequency from an origin on, in both directions: times by whole numbers.
class TimeGrid {
 public:
  TimeGrid() = default;
  /// The origin is step 0 and fixes what the frequency leaves open.
  TimeGrid(Frequency frequency, Instant origin, TimeCalendar calendar = {});

  const Frequency& frequency() const { return frequency_; }
  const TimeCalendar& calendar() const { return calendar_; }
  const TimeZone& zone() const { return calendar_.zone; }

  /// Throws InputError beyond the years that an Instant holds.
  Instant time(std::int64_t step) const;
  /// The step of a time; nothing for a time between two of them.
  std::optional<std::int64_t> step(Instant time) const;
  /// The time k steps after a time of the grid; for other times, after the last step before it.
  Instant next(Instant time, std::int64_t k = 1) const { return this->time(step_before(time) + k); }
  /// The last step at or before a time.
  std::int64_t step_before(Instant time) const;

 private:
  std::int64_t unit_of(Instant time) const;
  Instant time_of(std::int64_t unit) const;

  Frequency frequency_ = {};
  TimeCalendar calendar_ = {};
  std::int64_t origin_ = 0;  ///< the first step, in units of the frequency
  std::int64_t clock_ = 0;   ///< the local time of day of business days and months
};

}  // namespace lagtape
