#include "lagtape/data/time/find_grid.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

using Unit = Frequency::Unit;

/// The local days of the rows, and their time of day.
struct RowDays {
  std::vector<std::int64_t> days = {};
  bool is_one_clock = true;                       ///< all have the same time of day
  std::int64_t shortest = 0, shortest_local = 0;  ///< distance of a row from the previous one
};

RowDays days_of(std::span<const Instant> times, const TimeZone& zone) {
  RowDays rows{.shortest = INT64_MAX, .shortest_local = INT64_MAX};
  for (std::size_t i = 1; i < times.size(); ++i)
    rows.shortest = std::min(rows.shortest, times[i] - times[i - 1]);
  std::vector<Instant> local = zone.to_local(times);
  if (rows.shortest > kOneDay / 2)
    std::ranges::transform(times, local.begin(), [&](Instant time) { return zone.to_calendar(time); });
  for (std::size_t i = 0; i < local.size(); ++i) {
    rows.days.push_back(floor_div(local[i], kOneDay));
    rows.is_one_clock = rows.is_one_clock && floor_mod(local[i], kOneDay) == floor_mod(local[0], kOneDay);
    if (i > 0 && local[i] > local[i - 1])
      rows.shortest_local = std::min(rows.shortest_local, local[i] - local[i - 1]);
  }
  return rows;
}

/// The frequency in months of rows on these days; empty if two are in the same month, or their days of the
/// month differ.
std::optional<Frequency> months_of(const std::vector<std::int64_t>& days,
                                   const std::vector<std::int64_t>& holidays) {
  constexpr std::size_t kFewestOfBusiness = 4;  // days that are first or last ones by chance
  int latest = 0;
  std::int64_t shortest = INT64_MAX, before = 0;
  std::vector<std::chrono::year_month_day> dates;
  for (const std::int64_t day : days) {
    const auto date = dates.emplace_back(date_of(day));
    const int month =
        12 * static_cast<int>(date.year()) + static_cast<int>(static_cast<unsigned>(date.month()));
    latest = std::max(latest, static_cast<int>(static_cast<unsigned>(date.day())));
    if (dates.size() > 1) shortest = std::min(shortest, month - before);
    before = month;
  }
  if (shortest < 1) return {};
  for (const int day :
       {Frequency::kLastDay, latest, Frequency::kFirstBusinessDay, Frequency::kLastBusinessDay}) {
    const auto is_on_it = [&](const std::chrono::year_month_day& date) {
      return day_of_month(static_cast<int>(date.year()),
                          static_cast<int>(static_cast<unsigned>(date.month())), day,
                          holidays) == std::chrono::sys_days(date).time_since_epoch().count();
    };
    if (day > Frequency::kLastDay && days.size() < kFewestOfBusiness) return {};
    if (std::ranges::all_of(dates, is_on_it))
      return Frequency{.unit = Unit::month, .count = days.size() > 1 ? shortest : 1, .day = day};
  }
  return {};
}

/// Whether days are between Monday and Friday, some of them adjacent, and span a weekend.
bool are_business_days(const std::vector<std::int64_t>& days) {
  bool has_neighbors = false;
  for (std::size_t i = 0; i < days.size(); ++i) {
    if (weekday_of(days[i]) > 4) return false;
    has_neighbors = has_neighbors || (i > 0 && days[i] - days[i - 1] == 1);
  }
  return has_neighbors && floor_div(days.front() + 3, 7) != floor_div(days.back() + 3, 7);
}

/// The frequencies that the rows may have, the likeliest first.
std::vector<Frequency> possible_frequencies(std::span<const Instant> times, const TimeCalendar& calendar) {
  const TimeZone& zone = calendar.zone;
  const RowDays rows = days_of(times, zone);
  std::vector<Frequency> found;
  if (const auto months =
          rows.is_one_clock ? months_of(rows.days, business_holidays(calendar.holidays)) : std::nullopt)
    found.push_back(*months);
  if (rows.is_one_clock && are_business_days(rows.days)) found.push_back({Unit::business, 1});
  // Clocks shift by up to two hours.
  const std::int64_t days = (rows.shortest + kOneDay / 2) / kOneDay;
  const std::int64_t leap = zone.is_utc() ? 0 : 2 * kOneHour;
  if (days > 0 && std::abs(rows.shortest - days * kOneDay) <= leap)
    found.push_back({Unit::local, days * kOneDay});
  found.push_back({Unit::nanosecond, rows.shortest});
  if (!zone.is_utc() && kOneDay % rows.shortest_local == 0)
    found.push_back({Unit::local, rows.shortest_local});
  return found;
}

/// The steps of rows on a grid, up to the first row that is not on it.
std::vector<std::int64_t> steps_of(const TimeGrid& grid, std::span<const Instant> times) {
  std::vector<std::int64_t> steps;
  steps.reserve(times.size());
  for (const Instant time : times) {
    const auto step = grid.step(time);
    if (!step) break;
    steps.push_back(*step);
  }
  return steps;
}

/// Two distances between rows, each with the row after its first occurrence. The second is 0 if all rows have
/// one frequency.
struct Distances {
  std::int64_t first = 0, second = 0;
  std::size_t first_row = 0, second_row = 0;
};

/// A common number of months, quarters or years, each with its own days, if the days differ; else the number of
/// days.
std::int64_t regular_days(std::int64_t days) {
  if (days >= 28 && days <= 31) return 30;
  if (days >= 90 && days <= 92) return 91;
  return days == 366 ? 365 : days;
}

/// Distinguishes missing rows from a second frequency. The first distance is the shortest; the second is not a
/// multiple of it, is more common, or repeats over more rows than could be missing by chance. `days` is the
/// length of a step, or 0.
Distances distances_of(std::span<const std::int64_t> steps, std::int64_t days = 0) {
  Distances found{.first = INT64_MAX};
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    distances.push_back(steps[i] - steps[i - 1]);
    if (distances.back() < found.first) found = {.first = distances.back(), .first_row = i};
  }
  const auto with_second = [&](std::size_t i) {
    found.second = distances[i];
    found.second_row = i + 1;
    return found;
  };
  const auto regular = [&](std::size_t i) {
    return days > 0 ? regular_days(distances[i] * days) : distances[i];
  };
  std::size_t longest = 0, first_of_longest = 0, run = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] % found.first != 0) return with_second(i);
    run = i > 0 && regular(i) == regular(i - 1) ? run + 1 : 1;
    if (distances[i] == found.first || run <= longest) continue;
    longest = run;
    first_of_longest = i + 1 - run;
  }
  if (longest == 0) return found;
  double share = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) share += regular(i) == regular(first_of_longest) ? 1 : 0;
  const auto count = static_cast<double>(distances.size());
  share /= count;
  const double by_chance =
      share < 1 ? std::log(std::max(1.0, count * (1 - share))) / std::log(1 / share) : count;
  if (static_cast<double>(longest) > 1.5 * by_chance + 4) return with_second(first_of_longest);
  // The most common distance has the longest run of equal sorted values.
  std::vector<std::int64_t> sorted = distances;
  std::ranges::sort(sorted);
  const auto shortest = std::ranges::upper_bound(sorted, found.first) - sorted.begin();
  for (auto at = sorted.begin() + shortest; at != sorted.end();) {
    const auto end = std::upper_bound(at, sorted.end(), *at);
    if (end - at > shortest)
      return with_second(static_cast<std::size_t>(std::ranges::find(distances, *at) - distances.begin()));
    at = end;
  }
  return found;
}

FoundGrid with_gaps(TimeGrid grid, const std::vector<std::int64_t>& steps) {
  FoundGrid found{.grid = std::move(grid), .gaps = {}};
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i] - steps[i - 1] > 1)
      found.gaps.push_back({.row = static_cast<std::int64_t>(i), .missing = steps[i] - steps[i - 1] - 1});
  return found;
}

std::string row_text(const Place& place, std::size_t row) {
  return place.line > 0 ? text_of("line ", place.line) : text_of("row ", row);
}

/// The length of that many steps of a grid.
std::string distance_text(Frequency frequency, std::int64_t steps) {
  frequency.count *= steps;
  const bool is_time = frequency.unit == Unit::nanosecond || frequency.unit == Unit::local;
  return is_time ? duration_text(frequency.count) : frequency.name();
}

[[noreturn]] void refuse_mixed(const Frequency& frequency, const Distances& found, const PlaceOfRow& place) {
  const auto [first, second] = std::minmax(found.first_row, found.second_row);
  const bool is_in_order = first == found.first_row;
  const std::string a = distance_text(frequency, is_in_order ? found.first : found.second);
  const std::string b = distance_text(frequency, is_in_order ? found.second : found.first);
  throw InputError(Problem{
      .place = place(static_cast<std::int64_t>(second)),
      .rule = Rule::conflict,
      .statement = text_of("rows of one series have one frequency. From the row before to this one it is ", b,
                           ", at ", row_text(place(static_cast<std::int64_t>(first)), first), " it is ", a)});
}

std::string time_text(Instant time, const TimeZone& zone) {
  return quote(
      TimeFormat(time % kOneSecond == 0 ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M:%S.%f").write(time, zone));
}

}  // namespace

void check_distances(std::span<const Instant> times, const TimeCalendar& calendar, const PlaceOfRow& place) {
  for (std::size_t i = 1; i < times.size(); ++i)
    if (std::int64_t distance = 0; __builtin_sub_overflow(times[i], times[i - 1], &distance))
      throw InputError(Problem{.place = place(static_cast<std::int64_t>(i)),
                               .rule = Rule::out_of_range,
                               .statement = "this row is more than 292 years after the one before it",
                               .found = time_text(times[i], calendar.zone)});
}

FoundGrid find_grid(std::span<const Instant> times, const TimeCalendar& calendar, const PlaceOfRow& place) {
  if (times.size() < 2)
    throw InputError(
        Problem{.place = place(0), .rule = Rule::missing, .statement = "one row has no frequency"});
  check_distances(times, calendar, place);
  for (const Frequency& frequency : possible_frequencies(times, calendar)) {
    TimeGrid grid(frequency, times.front(), calendar);
    const std::vector<std::int64_t> steps = steps_of(grid, times);
    if (steps.size() < times.size()) {
      if (frequency.unit == Unit::business && !calendar.holidays.empty())
        throw InputError(Problem{.place = place(std::ssize(steps)),
                                 .rule = Rule::conflict,
                                 .statement = "rows of business days have none on a holiday",
                                 .found = time_text(times[steps.size()], calendar.zone)});
      continue;
    }
    const Distances distances =
        distances_of(steps, frequency.unit == Unit::local ? frequency.count / kOneDay : 0);
    if (distances.second != 0) refuse_mixed(frequency, distances, place);
    return with_gaps(std::move(grid), steps);
  }
  refuse_mixed({Unit::nanosecond, 1}, distances_of(times), place);
}

FoundGrid fit_grid(const Frequency& frequency, std::span<const Instant> times, const TimeCalendar& calendar,
                   const PlaceOfRow& place, bool may_be_rare) {
  if (times.empty()) return {.grid = TimeGrid(frequency, 0, calendar), .gaps = {}};
  Frequency wanted = frequency;
  if (wanted.unit == Unit::month && wanted.day == 0)
    if (const auto months =
            months_of(days_of(times, calendar.zone).days, business_holidays(calendar.holidays)))
      wanted.day = months->day;
  TimeGrid grid(wanted, times.front(), calendar);
  const auto refuse = [&](std::size_t row, std::string_view why) {
    throw InputError(Problem{.place = place(static_cast<std::int64_t>(row)),
                             .rule = Rule::conflict,
                             .statement = text_of(why, " the frequency ", quote(frequency.name())),
                             .found = time_text(times[row], calendar.zone)});
  };
  const bool is_other_anchor = frequency.anchor >= 0 && grid.frequency().anchor != frequency.anchor;
  if (is_other_anchor || grid.time(0) != times.front()) refuse(0, "this time is none of");
  const std::vector<std::int64_t> steps = steps_of(grid, times);
  if (steps.size() < times.size())
    refuse(steps.size(), "from the row before to this one is no whole number of steps of");
  FoundGrid found = with_gaps(std::move(grid), steps);
  if (times.size() > 2 && found.gaps.size() == times.size() - 1 && !may_be_rare)
    refuse(1, "all rows are further apart than");
  return found;
}

}  // namespace lagtape
