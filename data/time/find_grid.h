#pragma once

#include <span>
#include <vector>

#include "lagtape/data/time/time_grid.h"

namespace lagtape {

/// A row before which steps are missing.
struct TimeGap {
  std::int64_t row = 0, missing = 0;
  bool operator==(const TimeGap&) const = default;
};

struct FoundGrid {
  TimeGrid grid;
  std::vector<TimeGap> gaps;
};

/// Throws InputError for a row whose distance from the previous row exceeds an Instant.
void check_distances(std::span<const Instant> times, const TimeCalendar& calendar, const PlaceOfRow& place);
/// The frequency of the rows of one series: at least two times, strictly ascending; the first is the grid's
/// step 0. Throws InputError if the rows have two frequencies, which it reports with their rows.
FoundGrid find_grid(std::span<const Instant> times, const TimeCalendar& calendar, const PlaceOfRow& place);
/// The same with a known frequency, for any number of rows. Throws InputError for the first row that is not on
/// it, and if no two rows are consecutive steps, unless they `may_be_rare`.
FoundGrid fit_grid(const Frequency& frequency, std::span<const Instant> times, const TimeCalendar& calendar,
                   const PlaceOfRow& place, bool may_be_rare = false);

}  // namespace lagtape
