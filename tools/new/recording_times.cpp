#include "lagtape/tools/new/recording_times.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/time_detector.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

namespace {

/// Whether times are those of rows that follow each other: of one frequency, or most of them the same distance apart.
bool are_even(std::vector<Instant> times, bool may_repeat, const PlaceOfRow& place) {
  constexpr std::size_t kFewest = 10;
  std::ranges::sort(times);
  const auto repeated = std::ranges::unique(times);
  if (!repeated.empty() && !may_repeat) return false;
  times.erase(repeated.begin(), repeated.end());
  if (times.size() < kFewest) return false;
  std::map<Instant, std::size_t> distances;
  for (std::size_t i = 1; i < times.size(); ++i) ++distances[times[i] - times[i - 1]];
  for (const auto& [distance, count] : distances)
    if (2 * count > times.size()) return true;
  try {
    find_grid(times, {}, place);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// How often rows that are else less than a day apart are an hour or half an hour further, or nearer, as where a clock is set.
std::size_t leaps_in(const std::vector<Instant>& times) {
  if (times.size() < 3) return 0;
  const Instant usual = times[1] - times[0];
  std::size_t leaps = 0;
  for (std::size_t i = 1; i < times.size() && usual < kOneDay; ++i)
    if (const Instant leap = std::abs(times[i] - times[i - 1] - usual);
        leap == kOneHour || 2 * leap == kOneHour)
      ++leaps;
  return leaps;
}

std::size_t leaps_of(const std::vector<std::vector<Instant>>& series) {
  std::size_t leaps = 0;
  for (const std::vector<Instant>& times : series) leaps += leaps_in(times);
  return leaps;
}

}  // namespace

std::optional<RecordingTimes> find_times(const NamedTable& table, const std::vector<std::int64_t>& columns,
                                         bool may_repeat) {
  TimeDetector detector;
  detector.called(table.names_with_units(columns));
  detector.reserve(static_cast<std::size_t>(table.rows()));
  if (columns.size() == 2)
    for (std::int64_t row = 0; row < table.rows(); ++row) detector.see_clock(table.cell(row, columns[1]));
  std::vector<std::string_view> cells(columns.size());
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = table.cell(row, columns[i]);
    if (is_missing(cells[0])) return {};
    columns.size() == 1 ? detector.add(cells[0]) : detector.add(cells);
    if (!detector.is_possible()) return {};
  }
  const bool are_numbers = detector.is_of_numbers();
  const PlaceOfRow place = [&](std::int64_t row) { return table.place(row, columns[0]); };
  TimeColumn found;
  try {
    found = detector.finish(place);
  } catch (const InputError& error) {
    if (are_numbers && !(has_time_name(table.name_of(columns[0])) && detector.is_of_dates())) return {};
    throw error.with_hint(R"(In an experiment "time_format": "%d/%m/%Y" or "%m/%d/%Y" says which is first.)");
  }
  const bool are_days = found.format.text().starts_with("%Y%m%d");
  const bool is_sure = are_days && has_time_name(table.name_of(columns[0]));
  if (are_numbers && !is_sure && !are_even(found.times, may_repeat || are_days, place)) return {};
  // Counters are in the range of Julian days as well.
  const std::string name = table.name_of(columns[0]);
  if (found.format.count() == TimeCount::julian_days && !has_time_name(name) &&
      count_called(name) != TimeCount::julian_days)
    return {};
  const bool has_zone = found.zone.name().find('/') != std::string::npos;
  std::string count;
  if (found.format.count() && !found.times.empty()) {
    const auto [first, last] = std::ranges::minmax(found.times);
    count = text_of(name_of(*found.format.count()), ": ", date_text(first), " to ", date_text(last));
  }
  return RecordingTimes{.times = std::move(found.times),
                        .timezone = has_zone ? found.zone.name() : "",
                        .count = std::move(count),
                        .format = found.format.text(),
                        .are_numbers = are_numbers,
                        .are_dates = found.format.is_date(),
                        .are_absolute = found.format.is_absolute()};
}

std::string date_text(Instant time) {
  return TimeFormat(time % kOneDay == 0 ? "%Y-%m-%d" : "%Y-%m-%d %H:%M").write(time);
}

std::string other_counts_of(double lowest, double highest, std::optional<TimeCount> taken) {
  constexpr Instant kEarliest = day_of(1950, 1, 1) * kOneDay, kLatest = day_of(2051, 1, 1) * kOneDay;
  std::string text;
  for (const TimeCount count : {TimeCount::spreadsheet_days, TimeCount::modified_julian_days,
                                TimeCount::matlab_days, TimeCount::hours_since_1900}) {
    const auto time_of = [&](double number) {
      const double whole = std::floor(number);
      return instant_of(count, static_cast<std::int64_t>(whole), number - whole, 4);
    };
    const auto first = time_of(lowest), last = time_of(highest);
    if (count == taken || !first || !last || *first < kEarliest || *last > kLatest) continue;
    text += text_of(text.empty() ? "As \"" : ", as \"", name_of(count), "\" they would be ",
                    date_text(*first), " to ", date_text(*last));
  }
  return text.empty() ? text : text + ".";
}

bool come_again(const std::vector<Instant>& times) {
  return std::ranges::adjacent_find(times, std::ranges::greater_equal()) != times.end();
}

std::string zone_of_clock(const std::vector<std::vector<Instant>>& local) {
  const bool is_set_back = std::ranges::any_of(local, come_again);
  const std::size_t leaps = is_set_back ? 0 : leaps_of(local);
  if (!is_set_back && leaps == 0) return {};
  for (const char* name : common_zones()) try {
      std::vector<std::vector<Instant>> times;
      for (const std::vector<Instant>& series : local)
        times.push_back(TimeZone::named(name).to_utc(series, [](std::int64_t) { return Place(); }));
      if (std::ranges::none_of(times, come_again) && (is_set_back || leaps_of(times) < leaps)) return name;
    } catch (const InputError&) {
      // Its clock leaps over one of the times.
    }
  return {};
}

}  // namespace lagtape
