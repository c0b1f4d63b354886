#include "lagtape/data/time/time_zone.h"

#include <doctest/doctest.h>

#include "lagtape/data/time/time_format.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

Place place_of(std::int64_t row) { return {.file = "own.csv", .line = row + 2}; }

std::vector<Instant> times_of(const std::vector<std::string>& texts) {
  std::vector<Instant> times;
  for (const std::string& text : texts) times.push_back(read_time(text)->time);
  return times;
}

std::vector<std::string> in_utc(const std::string& zone, const std::vector<std::string>& local) {
  std::vector<std::string> texts;
  for (const Instant time : TimeZone::named(zone).to_utc(times_of(local), place_of))
    texts.push_back(TimeFormat("%Y-%m-%d %H:%M").write(time));
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the hour that clocks show twice is the earlier and then the later one") {
  const Texts local = {"2024-10-27 01:30", "2024-10-27 02:00", "2024-10-27 02:30",
                       "2024-10-27 02:00", "2024-10-27 02:30", "2024-10-27 03:00"};
  const Texts utc = {"2024-10-26 23:30", "2024-10-27 00:00", "2024-10-27 00:30",
                     "2024-10-27 01:00", "2024-10-27 01:30", "2024-10-27 02:00"};
  CHECK(in_utc("Europe/Berlin", local) == utc);
  CHECK(in_utc("Europe/Berlin", Texts(local.rbegin(), local.rend())) == Texts(utc.rbegin(), utc.rend()));
  // Without an order the first row of two alike is the earlier one.
  CHECK(in_utc("Europe/Berlin",
               {"2024-10-27 02:00", "2024-10-27 01:00", "2024-10-27 04:00", "2024-10-27 02:00"}) ==
        Texts{"2024-10-27 00:00", "2024-10-26 23:00", "2024-10-27 03:00", "2024-10-27 01:00"});
}

TEST_CASE("a time over which clocks leap is refused with its row") {
  const std::string message = input_error_of([] {
    in_utc("Europe/Berlin", {"2024-03-31 01:30", "2024-03-31 02:30"});
  });
  CHECK(message.find(
            "own.csv: line 3: the clock of Europe/Berlin leaps over this time. Got 2024-03-31 02:30:00.") !=
        message.npos);
  CHECK(in_utc("UTC", {"2024-03-31 02:30"}) == Texts{"2024-03-31 02:30"});
  const TimeZone berlin = TimeZone::named("Europe/Berlin");
  CHECK(berlin.to_local(berlin.to_utc(times_of({"2024-03-31 02:30"})[0])) ==
        times_of({"2024-03-31 03:30"})[0]);
}

TEST_CASE("zones have names of the IANA database or are offsets") {
  CHECK(TimeZone::named("Asia/Kolkata").offset_at(0) == 19800 * kOneSecond);
  CHECK(TimeZone::named("+05:30").offset_at(0) == 19800 * kOneSecond);
  CHECK(TimeZone::named("-0330").name() == "-03:30");
  for (const char* name : {"UTC", "Z", "+00:00"}) CHECK(TimeZone::named(name).is_utc());
  CHECK(TimeZone::fixed(0).is_utc());
  CHECK(TimeZone::named("America/New_York") == TimeZone::named("America/New_York"));
  for (const char* name : {"Europe/Berln", "europe/berlin"})
    CHECK(input_error_of([&] { TimeZone::named(name); }).find("did you mean 'Europe/Berlin'?") !=
          std::string::npos);
  CHECK(input_error_of([] { TimeZone::named("../../etc/passwd"); }).find("unknown time zone") !=
        std::string::npos);
  CHECK_THROWS_AS(TimeZone::named(""), InputError);
}

TEST_CASE("clocks go on changing after 2037") {
  const TimeZone berlin = TimeZone::named("Europe/Berlin");
  CHECK(berlin.offset_at(times_of({"2050-07-01"})[0]) == 2 * kOneHour);
  CHECK(berlin.offset_at(times_of({"2050-12-01"})[0]) == kOneHour);
  CHECK(TimeZone::named("Europe/Istanbul").offset_at(times_of({"2050-12-01"})[0]) == 3 * kOneHour);
}

TEST_CASE("days at one time of day, written in UTC, have a zone by whose clock they are so") {
  for (const char* name : {"Europe/Berlin", "America/New_York", "Africa/Casablanca", "Pacific/Norfolk"}) {
    for (const std::int64_t clock : {std::int64_t{0}, 8 * kOneHour}) {
      CAPTURE(name);
      const TimeZone zone = TimeZone::named(name);
      std::vector<Instant> local;
      for (std::int64_t day = 0; day < 500; ++day)
        local.push_back(day_of(2022, 1, static_cast<int>(1 + day)) * kOneDay + clock);
      const std::vector<Instant> times = zone.to_utc(local, place_of);
      const std::string found = zone_of_days(times);
      REQUIRE(!found.empty());
      std::int64_t others = 0;
      const TimeZone one = TimeZone::named(found);
      for (const Instant time : times)
        others +=
            floor_mod(one.to_local(time), kOneDay) == floor_mod(one.to_local(times[0]), kOneDay) ? 0 : 1;
      CHECK(others == 0);
    }
  }
}
