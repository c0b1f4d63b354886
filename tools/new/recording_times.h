#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/table/named_table.h"
#include "lagtape/data/time/instant.h"
#include "lagtape/data/time/time_count.h"

namespace lagtape {

/// The times of a column, or of two: dates and times of day.
struct RecordingTimes {
  std::vector<Instant> times = {};  ///< by row
  std::string timezone = {};        ///< the zone with the offsets of all times, where they change
  std::string count = {};           ///< the unit of numbers, and their first and last dates
  std::string format = {};          ///< the text of a TimeFormat
  bool are_numbers = false;         ///< which could be read as numbers as well
  bool are_dates = false;           ///< times have no time of day
  bool are_absolute = false;        ///< with offsets from UTC, or counted since 1970
};

/// The times, if all cells are times. Numbers are times only if they are plausible, all different, and of one
/// frequency; with `may_repeat` they may repeat, as in a table of several series. Throws InputError for dates of which
/// no row says whether the day or the month is first.
std::optional<RecordingTimes> find_times(const NamedTable& table, const std::vector<std::int64_t>& columns,
                                         bool may_repeat);

/// "2024-01-31", or "2024-01-31 13:00".
std::string date_text(Instant time);
/// A sentence with the dates that numbers would be by other counts; "" where there are none.
std::string other_counts_of(double lowest, double highest, std::optional<TimeCount> taken);

/// Whether a time is not after the one before it.
bool come_again(const std::vector<Instant>& times);

/// The zone of the clock that shows the local times of each series: a common zone in which repeated times are the hour
/// in autumn, or else a missing hour is the one in spring. "" where there is none.
std::string zone_of_clock(const std::vector<std::vector<Instant>>& local);

}  // namespace lagtape
