#include "lagtape/data/table/time_stamp.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

std::optional<double> parse_time(std::string_view text) {
  const std::optional<TimeStamp> stamp = parse_time_stamp(text);
  return stamp ? std::optional(stamp->seconds) : std::nullopt;
}

}  // namespace

TEST_CASE("times are ISO dates or seconds since 1970") {
  CHECK(parse_time("1970-01-02") == 86400.0);
  CHECK(parse_time("2000-02-29") == 951782400.0);  // from `date -u +%s`
  CHECK(parse_time("2024-01-31 13:05") == 1706706300.0);
  CHECK(parse_time("2024/01/31 13:05:07") == 1706706307.0);
  CHECK(parse_time("2024-01-31T13:05:07.25Z") == 1706706307.25);
  CHECK(parse_time("2024-01-31T13:05:07+02:00") == 1706699107.0);
  CHECK(parse_time("2024-01-31T13:05:07-0530") == 1706726107.0);
  CHECK(parse_time("1706706300.5") == 1706706300.5);
  CHECK(parse_time("1969-12-31") == -86400.0);
  for (const char* text : {"", "2023-02-29", "2024-13-01", "2024-1-31", "31.01.2024", "2024-01-31 25:00",
                           "2024-01-31x", "2024-01-31 13", "load", "inf", "2024-01-31 13:00:00+2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text));
  }
}

TEST_CASE("times are written as ISO dates") {
  CHECK(iso_date_of(951782400, false) == "2000-02-29");
  CHECK(iso_date_of(951782400, true) == "2000-02-29T00:00:00");
  CHECK(iso_date_of(1706706307.25, true) == "2024-01-31T13:05:07.250");
  CHECK(iso_date_of(-1, true) == "1969-12-31T23:59:59");
  CHECK(is_midnight(951782400));
  CHECK_FALSE(is_midnight(951782401));
}

TEST_CASE("the offset of a date is told, and written") {
  CHECK(parse_time_stamp("2024-01-31T13:00+01:00")->offset == 3600);
  CHECK(parse_time_stamp("2024-01-31 13:00-05:30")->offset == -19800);
  CHECK(parse_time_stamp("2024-01-31 13:00Z")->offset == 0);
  CHECK(!parse_time_stamp("2024-01-31 13:00")->offset);
  CHECK(parse_time_stamp("2024-01-31")->is_date);
  CHECK(!parse_time_stamp("12.5")->is_date);
  CHECK(!parse_time_stamp("2024-01-31 13:00+"));
  CHECK(text_of_offset(0) == "Z");
  CHECK(text_of_offset(3600) == "+01:00");
  CHECK(text_of_offset(-19800) == "-05:30");
}
