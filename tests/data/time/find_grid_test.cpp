#include "lagtape/data/time/find_grid.h"

#include <doctest/doctest.h>

#include "lagtape/data/time/time_format.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Texts = std::vector<std::string>;

Place place_of(std::int64_t row) { return {.line = row + 2}; }

std::vector<Instant> times_of(const Texts& texts) {
  std::vector<Instant> times;
  for (const std::string& text : texts) times.push_back(read_time(text)->time);
  return times;
}

FoundGrid found(const Texts& texts, const TimeCalendar& calendar = {}) {
  return find_grid(calendar.zone.to_utc(times_of(texts), place_of), calendar, place_of);
}

/// The name, and the dates of the steps after the last row.
std::string next_of(const Texts& texts, int steps, const TimeCalendar& calendar = {}) {
  const FoundGrid grid = found(texts, calendar);
  std::string text = grid.grid.frequency().name();
  Instant time = calendar.zone.to_utc(times_of(texts).back());
  for (int i = 0; i < steps; ++i) {
    time = grid.grid.next(time);
    text += " " + TimeFormat().write(time, calendar.zone);
  }
  return text;
}

}  // namespace

TEST_CASE("the steps after the last row are those of the calendar") {
  CHECK(next_of({"2023-11-01", "2023-12-01", "2024-01-01"}, 2) == "month_start 2024-02-01 2024-03-01");
  CHECK(next_of({"2023-11-30", "2023-12-31", "2024-01-31"}, 2) == "month_end 2024-02-29 2024-03-31");
  CHECK(next_of({"2023-11-30", "2023-12-30", "2024-01-30"}, 2) == "month-30 2024-02-29 2024-03-30");
  CHECK(next_of({"2023-03-31", "2023-06-30"}, 2) == "quarter_end 2023-09-30 2023-12-31");
  CHECK(next_of({"2016-02-29", "2017-02-28"}, 3) == "year_end-FEB 2018-02-28 2019-02-28 2020-02-29");
  CHECK(next_of({"2023-09-29", "2023-10-31", "2023-11-30", "2023-12-29"}, 3) ==
        "business_month_end 2024-01-31 2024-02-29 2024-03-29");
  CHECK(next_of({"2024-03-01", "2024-04-01", "2024-05-01", "2024-06-03", "2024-07-01"}, 3) ==
        "business_month_start 2024-08-01 2024-09-02 2024-10-01");
  CHECK(next_of({"2022-10-03", "2023-01-02", "2023-04-03", "2023-07-03"}, 2) ==
        "business_quarter_start 2023-10-02 2024-01-01");
  CHECK(next_of({"2022-07-04", "2023-07-04"}, 1) == "year-JUL-4 2024-07-04");
  CHECK(next_of({"2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10", "2024-01-11",
                 "2024-01-12"},
                2) == "business 2024-01-15 2024-01-16");
  CHECK(next_of({"2024-01-07", "2024-01-14"}, 1) == "1W-SUN 2024-01-21");
  CHECK(next_of({"2024-01-07", "2024-01-09", "2024-01-11"}, 1) == "2D 2024-01-13");
  CHECK(next_of({"2024-01-31 00:00", "2024-01-31 00:15"}, 0) == "15min");
}

TEST_CASE("steps beyond the years that an instant holds are refused") {
  for (const char* name : {"year", "month_end", "business", "1W", "1D", "1h"}) {
    CAPTURE(name);
    const TimeGrid grid(Frequency::parse(name), read_time("2024-01-01")->time);
    const Instant last = read_time("2261-12-30")->time;
    CHECK(grid.time(grid.step_before(last)) <= last);
    CHECK(has(input_error_of([&] { grid.time(10'000'000); }),
              "times are of the years 1678 to 2261, and 10000000 steps of the frequency "));
    CHECK_THROWS_AS(grid.time(-10'000'000), InputError);
  }
  CHECK_THROWS_AS(TimeGrid(Frequency::parse("year"), 0).time(300), InputError);
}

TEST_CASE("days of a zone have 23 and 25 hours") {
  const TimeCalendar berlin{.zone = TimeZone::named("Europe/Berlin")};
  CHECK(next_of({"2024-03-29", "2024-03-30", "2024-03-31"}, 2, berlin) == "1D 2024-04-01 2024-04-02");
  const FoundGrid days = found({"2024-10-26", "2024-10-27", "2024-10-28"}, berlin);
  CHECK(days.grid.time(2) - days.grid.time(1) == 25 * kOneHour);
  CHECK(days.grid.step(days.grid.time(365)) == 365);
  CHECK(!days.grid.step(days.grid.time(0) + kOneHour));
  const FoundGrid hours =
      found({"2024-03-31 00:00", "2024-03-31 01:00", "2024-03-31 03:00", "2024-03-31 04:00"}, berlin);
  CHECK(hours.grid.frequency().name() == "1h");
  CHECK(hours.gaps.empty());
  const FoundGrid quarters =
      found({"2024-03-30 18:00", "2024-03-31 00:00", "2024-03-31 06:00", "2024-03-31 12:00"}, berlin);
  CHECK(quarters.grid.frequency().name() == "6h-local");
}

TEST_CASE("rows that are missing are steps of the frequency") {
  const FoundGrid hours =
      found({"2024-01-31 00:00", "2024-01-31 01:00", "2024-01-31 05:00", "2024-01-31 06:00"});
  CHECK(hours.gaps == std::vector<TimeGap>{{2, 3}});
  // Monday to Friday have no gap, and a Tuesday that is not a row is one.
  const FoundGrid business =
      found({"2024-01-04", "2024-01-05", "2024-01-08", "2024-01-10", "2024-01-11", "2024-01-12"});
  CHECK(business.grid.frequency().name() == "business");
  CHECK(business.gaps == std::vector<TimeGap>{{3, 1}});
  const TimeCalendar with_holiday{.zone = {}, .holidays = {day_of(2024, 1, 9)}};
  CHECK(found({"2024-01-04", "2024-01-05", "2024-01-08", "2024-01-10", "2024-01-11"}, with_holiday)
            .gaps.empty());
}

TEST_CASE("series may be longer than the years that a difference of instants holds") {
  std::vector<Instant> years, days;
  for (int year = 1700; year < 2250; ++year) years.push_back(day_of(year, 1, 1) * kOneDay);
  for (std::int64_t day = day_of(1700, 1, 1); day < day_of(2250, 1, 1); ++day) days.push_back(day * kOneDay);
  CHECK(find_grid(years, {}, place_of).grid.time(549) == years.back());
  const FoundGrid daily = find_grid(days, {}, place_of);
  CHECK(daily.grid.frequency().name() == "1D");
  CHECK(daily.gaps.empty());
  CHECK(daily.grid.step(days.back()) == std::ssize(days) - 1);
  CHECK(input_error_of([] {
          found({"1900-01-01", "2200-01-01"});
        }) == "line 3: this row is more than 292 years after the one before it. Got '2200-01-01 00:00:00'.");
}

TEST_CASE("two frequencies in one series are named with their rows") {
  const auto message = [](const Texts& texts) { return input_error_of([&] { found(texts); }); };
  CHECK(message({"2024-01-31 00:00", "2024-01-31 01:00", "2024-01-31 02:30", "2024-01-31 03:30"}) ==
        "line 4: rows of one series have one frequency. From the row before to this one it is 90min, at line "
        "3 it is 1h");
  CHECK(message({"2024-01-31 00:00"}) == "line 2: one row has no frequency");
}

TEST_CASE("rows that contradict a frequency are refused") {
  const std::vector<Instant> hours = times_of({"2024-01-31 00:00", "2024-01-31 01:00", "2024-01-31 02:00"});
  const auto message = [&](const char* name) {
    return input_error_of([&] { fit_grid(Frequency::parse(name), hours, {}, place_of); });
  };
  CHECK(message("1h").empty());
  CHECK(message("2h") ==
        "line 3: from the row before to this one is no whole number of steps of the frequency '2h'. Got "
        "'2024-01-31 01:00:00'.");
  CHECK(message("30min") ==
        "line 3: all rows are further apart than the frequency '30min'. Got '2024-01-31 01:00:00'.");
  CHECK(message("month_start").starts_with("line 2: this time is none of the frequency 'month_start'"));
  CHECK(
      fit_grid(Frequency::parse("quarter"), times_of({"2024-03-31"}), {}, place_of).grid.frequency().name() ==
      "quarter_end");
  const std::vector<Instant> sundays = times_of({"2024-01-07", "2024-01-14"});
  CHECK(fit_grid(Frequency::parse("1W"), sundays, {}, place_of).grid.frequency().name() == "1W-SUN");
  CHECK_THROWS_AS(fit_grid(Frequency::parse("W-MON"), sundays, {}, place_of), InputError);
}
