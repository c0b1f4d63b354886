#include "lagtape/tools/chart/time_ticks.h"

#include <doctest/doctest.h>

#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/chart/row_axis.h"

namespace lagtape {
namespace {

Instant at(const char* text) { return read_time(text)->time; }

/// The ticks between two local times: "06:00" or "00:00/2024-03-10".
std::string ticks_of(const char* first, const char* last, const char* zone = "UTC") {
  const TimeZone clock = TimeZone::named(zone);
  std::string text;
  for (const TimeTick& tick : time_ticks(clock.to_utc(at(first)), clock.to_utc(at(last)), 8, clock))
    text += (text.empty() ? "" : " ") + tick.text + (tick.below.empty() ? "" : "/" + tick.below);
  return text;
}

TEST_CASE("ticks of times are round moments with the day or the year where it changes") {
  CHECK(ticks_of("2024-03-09 20:10", "2024-03-10 13:00") ==
        "22:00/2024-03-09 00:00/2024-03-10 02:00 04:00 06:00 08:00 10:00 12:00");
  CHECK(ticks_of("2024-02-27", "2024-03-03 12:00") == "Feb 27/2024 Feb 28 Feb 29 Mar 1 Mar 2 Mar 3");
  CHECK(ticks_of("2024-12-20", "2025-01-20") == "Dec 23/2024 Dec 30 Jan 6/2025 Jan 13 Jan 20");
  CHECK(ticks_of("2023-10-15", "2024-05-02") == "Nov/2023 Dec Jan/2024 Feb Mar Apr May");
  CHECK(ticks_of("1993-05-01", "2024-02-01") == "1995 2000 2005 2010 2015 2020");
  CHECK(ticks_of("1700-01-01", "2250-01-01") == "1700 1800 1900 2000 2100 2200");
  CHECK(ticks_of("2024-01-01 00:00:00.010", "2024-01-01 00:00:00.016") ==
        "00:00:00.010/2024-01-01 00:00:00.011 00:00:00.012 00:00:00.013 00:00:00.014 00:00:00.015 "
        "00:00:00.016");
  CHECK(time_ticks(1, 500, 8, {}).empty());
}

TEST_CASE("ticks of times follow the clock of a place") {
  CHECK(ticks_of("2024-03-30 12:00", "2024-04-01 12:00", "Europe/Berlin") ==
        "12:00/2024-03-30 00:00/2024-03-31 12:00 00:00/2024-04-01 12:00");
  CHECK(ticks_of("2024-01-01 10:05", "2024-01-01 11:00", "Asia/Kathmandu") ==
        "10:10/2024-01-01 10:20 10:30 10:40 10:50 11:00");
}

TEST_CASE("rows lie on an axis by their times, to the fraction of a second") {
  const Instant zero = at("2024-01-01");
  const std::vector<Instant> times = {zero, zero + 250'000'000, zero + kOneDay};
  const RowAxis dates = axis_of_times(times, TimeZone::named("Europe/Berlin"));
  CHECK(dates.places == std::vector<double>{0, 0.25, 86400});
  CHECK(dates.axis.title == "time (Europe/Berlin)");
  CHECK(axis_of_times(times, TimeZone()).axis.title == "time");
  const RowAxis counts = axis_of_times(std::vector<Instant>{0, 100 * kOneSecond}, std::nullopt);
  CHECK(counts.places == std::vector<double>{0, 100});
  CHECK_FALSE(counts.axis.clock);
  const Plot plot{.x = dates.axis, .lines = {{"a", dates.places, {1, 2, 3}}}};
  const std::string svg = plot.svg();
  for (const char* text : {">06:00<", ">00:00<", ">2024-01-02<", ">time (Europe/Berlin)<"})
    CHECK(svg.find(text) != std::string::npos);
}

TEST_CASE("of two days too near to each other the later one is named") {
  const TimeZone utc;
  for (const double width : {620.0, 200.0}) {
    const Instant zero = at("2024-03-09 22:00");
    const RowAxis rows = axis_of_times(std::vector<Instant>{zero, zero + 14 * kOneHour}, utc);
    const std::string svg = Plot{.x = rows.axis, .lines = {{"a", rows.places, {1, 2}}}, .width = width}.svg();
    CHECK(svg.find(">2024-03-10<") != std::string::npos);
    CHECK((svg.find(">2024-03-09<") != std::string::npos) == (width > 300));
  }
}

TEST_CASE("lines and bands end before a gap") {
  Plot plot{.lines = {{"a", {0, 1, 5, 6}, {1, 2, 3, 4}}},
            .bands = {{.name = "b", .x = {0, 1, 5, 6}, .low = {0, 1, 2, 3}, .high = {2, 3, 4, 5}}}};
  const auto pieces = [&](const std::string& element) {
    const std::string svg = plot.svg();
    int found = 0;
    for (std::size_t i = svg.find(element); i != std::string::npos; i = svg.find(element, i + 1)) ++found;
    return found;
  };
  CHECK((pieces("<polyline") == 1 && pieces("<polygon") == 1));
  break_before(plot, {2});
  CHECK((pieces("<polyline") == 2 && pieces("<polygon") == 2));
}

}  // namespace
}  // namespace lagtape
