#pragma once

#include <optional>
#include <vector>

#include "lagtape/data/time/frequency.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

/// The zone of calendar dates, and which of them are not business days.
struct TimeCalendar {
  TimeZone zone = {};
  std::vector<std::int64_t> holidays = {};  ///< days since 1970
};

/// The holidays that would otherwise be business days, sorted.
std::vector<std::int64_t> business_holidays(std::vector<std::int64_t> holidays);
/// The day of a step of months: `day` as in a Frequency, `holidays` as from business_holidays.
std::int64_t day_of_month(int year, int month, int day, const std::vector<std::int64_t>& holidays);

/// The steps of a frequency from an origin, in both directions: times by integers.
class TimeGrid {
 public:
  TimeGrid() = default;
  /// The origin is step 0 and determines what the frequency leaves open.
  TimeGrid(Frequency frequency, Instant origin, TimeCalendar calendar = {});

  const Frequency& frequency() const { return frequency_; }
  const TimeCalendar& calendar() const { return calendar_; }
  const TimeZone& zone() const { return calendar_.zone; }

  /// Throws InputError outside the years that fit in an Instant.
  Instant time(std::int64_t step) const;
  /// The step of a time; empty for a time between two steps.
  std::optional<std::int64_t> step(Instant time) const;
  /// The time k steps after a time on the grid; for other times, k steps after the last step before it.
  Instant next(Instant time, std::int64_t k = 1) const { return this->time(step_before(time) + k); }
  /// The last step at or before a time.
  std::int64_t step_before(Instant time) const;

 private:
  std::int64_t unit_of(Instant time) const;
  Instant time_of(std::int64_t unit) const;

  Frequency frequency_ = {};
  TimeCalendar calendar_ = {};
  std::int64_t origin_ = 0;  ///< the first step, in units of the frequency
  std::int64_t clock_ = 0;   ///< the local time of day for business days and months
};

}  // namespace lagtape
