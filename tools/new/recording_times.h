#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/table/named_table.h"
#include "lagtape/data/time/instant.h"
#include "lagtape/data/time/time_count.h"

namespace lagtape {

/// The times that a column has, or two: dates and times of day.
struct RecordingTimes {
  std::vector<Instant> times = {};  ///< by row
  std::string timezone = {};        ///< of a clock whose offsets from UTC all times have, where they change
  std::string count = {};           ///< what numbers count, and from when to when
  std::string format = {};          ///< the text of a TimeFormat
  bool are_numbers = false;         ///< which could be read as numbers as well
  bool are_dates = false;           ///< times have no time of day
  bool are_absolute = false;        ///< with offsets from UTC, or counted since 1970
};

/// The times if all cells are some. Numbers are times only where they are plausible ones, no two alike, and of one frequency;
/// with `may_repeat` each may come again, as in a table of several series. Throws InputError for dates of which no row says whether
/// the day or the month is first.
std::optional<RecordingTimes> find_times(const NamedTable& table, const std::vector<std::int64_t>& columns,
                                         bool may_repeat);

/// "2024-01-31", or "2024-01-31 13:00".
std::string date_text(Instant time);
/// Which dates numbers would be by counts other than the one that they were taken for, as a sentence; "" where there are none.
std::string other_counts_of(double lowest, double highest, std::optional<TimeCount> taken);

/// Whether a time is not after the one before it.
bool come_again(const std::vector<Instant>& times);

/// The zone of the clock that shows the local times of each series: one of those that most people live in, by which those that come twice are the
/// two of an hour in autumn, or else an hour that is missing is the one in spring. "" where none is so.
std::string zone_of_clock(const std::vector<std::vector<Instant>>& local);

}  // namespace lagtape
