#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/table/named_table.h"
#include "lagtape/data/time/instant.h"
#include "lagtape/data/time/time_count.h"

namespace lagtape {

/// The times in one column, or in two: dates and times of day.
struct RecordingTimes {
  std::vector<Instant> times = {};  ///< by row
  std::string timezone = {};        ///< the zone that matches the offsets of all times, if they change
  std::string count = {};           ///< the unit of numbers, and their first and last dates
  std::string format = {};          ///< the text of a TimeFormat
  bool are_numbers = false;         ///< texts that could be read as numbers too
  bool are_dates = false;           ///< times have no time of day
  bool are_absolute = false;        ///< with UTC offsets, or counted since 1970
};

/// The times, if all cells are times. Numbers are times only if they are plausible, all different, and have a
/// single frequency; with `may_repeat` they may repeat, as in a table of several series. Throws InputError for
/// dates for which no row shows whether the day or the month comes first.
std::optional<RecordingTimes> find_times(const NamedTable& table, const std::vector<std::int64_t>& columns,
                                         bool may_repeat);

/// "2024-01-31", or "2024-01-31 13:00".
std::string date_text(Instant time);
/// A sentence with the dates that the numbers would be in other units; "" if there are none.
std::string other_counts_of(double lowest, double highest, std::optional<TimeCount> taken);

/// Whether a time is not later than the previous one.
bool come_again(const std::vector<Instant>& times);

/// The zone of the clock that shows each series' local times: a common zone in which repeated times are the
/// hour repeated in fall, or else a missing hour is the one skipped in spring. "" if there is none.
std::string zone_of_clock(const std::vector<std::vector<Instant>>& local);

}  // namespace lagtape
