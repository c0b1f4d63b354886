#include "lagtape/data/time/time_detector.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

Place place_of(std::int64_t row) { return {.line = row + 1}; }

TimeColumn read(const std::vector<std::string>& texts, TimeDetector detector = TimeDetector()) {
  for (const std::string& text : texts) detector.add(text);
  return detector.finish(place_of);
}

std::string message(const std::vector<std::string>& texts, const TimeDetector& detector = TimeDetector()) {
  return input_error_of([&] { read(texts, detector); });
}

/// Seconds since 1970.
Instant at(std::int64_t seconds) { return seconds * kOneSecond; }

void add(TimeDetector& detector, const std::vector<std::string_view>& cells) { detector.add(cells); }

}  // namespace

TEST_CASE("each format is found, and writes times back as they were") {
  // 2024-01-31 13:05:07, from `date -u +%s`, and what of it the texts have.
  struct Row {
    const char *text, *format;
    std::int64_t seconds;
  };
  const Row rows[] = {
      {"2024-01-31 13:05:07", "%Y-%m-%d %H:%M:%S", 1706706307},
      {"2024-01-31T13:05", "%Y-%m-%dT%H:%M", 1706706300},
      {"2024-01-31", "%Y-%m-%d", 1706659200},
      {"2024-01-31 13", "%Y-%m-%d %H", 1706706000},
      {"31.01.2024 13:05", "%d.%m.%Y %H:%M", 1706706300},
      {"31.1.2024", "%-d.%-m.%Y", 1706659200},
      {"31/01/24", "%d/%m/%y", 1706659200},
      {"01/31/2024 1:05 PM", "%m/%d/%Y %-I:%M %p", 1706706300},
      {"1/31/2024 01:05:07pm", "%-m/%-d/%Y %I:%M:%S%-p", 1706706307},
      {"31-Jan-2024", "%d-%b-%Y", 1706659200},
      {"31JAN2024:13:05:07", "%d%^b%Y:%H:%M:%S", 1706706307},
      {"January 31, 2024", "%B %d, %Y", 1706659200},
      {"20240131", "%Y%m%d", 1706659200},
      {"20240131T130507Z", "%Y%m%dT%H%M%S%-Z", 1706706307},
      {"2024013113", "%Y%m%d%H", 1706706000},
      {"202401", "%Y%m", 1704067200},
      {"2024-01", "%Y-%m", 1704067200},
      {"Jan 2024", "%b %Y", 1704067200},
      {"2024Q1", "%YQ%q", 1704067200},
      {"2024-Q1", "%Y-Q%q", 1704067200},
      {"2024", "%Y", 1704067200},
      {"2024031", "%Y%j", 1706659200},
      {"2024-031 13:05", "%Y-%3j %H:%M", 1706706300},
      {"2024-W05", "%G-W%V", 1706486400},
      {"2024W05", "%GW%V", 1706486400},
      {"2024-W5", "%G-W%-V", 1706486400},
      {"2024-W05-3", "%G-W%V-%u", 1706659200},
      {"2020-W53-5", "%G-W%V-%u", 1609459200},  // 2021-01-01
      {"1821", "%Y", -4701974400},
      {"2024-01-31T13:05:07Z", "%Y-%m-%dT%H:%M:%S%-Z", 1706706307},
      {"2024-01-31 13:05:07 UTC", "%Y-%m-%d %H:%M:%S %Z", 1706706307},
      {"2024-01-31 13:05:07 +0000", "%Y-%m-%d %H:%M:%S %z", 1706706307},
      {"2024-01-31 13:05:07-05:30", "%Y-%m-%d %H:%M:%S%:z", 1706726107},
      {"1706706307", "seconds", 1706706307},
      {"1706706307000", "milliseconds", 1706706307},
      {"1706706307000000", "microseconds", 1706706307},
      {"1706706307000000000", "nanoseconds", 1706706307},
      {"45322", "spreadsheet", 1706659200},
      {"2460340.5", "julian_days", 1706659200},
      {"2460341", "julian_days", 1706702400},
  };
  for (const auto& [text, format, seconds] : rows) {
    CAPTURE(text);
    const TimeColumn column = read({text});
    CHECK(column.format.text() == format);
    REQUIRE(column.times.size() == 1);
    CHECK(column.times[0] == at(seconds));
    CHECK(column.format.write(column.times[0], column.zone) == text);
    CHECK(TimeFormat(column.format.text()) == column.format);
  }
}

TEST_CASE(
    "weekdays, times of day before dates and signs of files and cameras write times back as they were") {
  struct Row {
    const char *text, *format;
    std::int64_t seconds;
  };
  const Row rows[] = {{"Wednesday, January 31, 2024", "%A, %B %d, %Y", 1706659200},
                      {"Wed 31/01/2024 13:05", "%a %d/%m/%Y %H:%M", 1706706300},
                      {"13:05 31/01/2024", "%H:%M %d/%m/%Y", 1706706300},
                      {"20240131_130507", "%Y%m%d_%H%M%S", 1706706307},
                      {"2024:01:31 13:05:07", "%Y:%m:%d %H:%M:%S", 1706706307},
                      {"Q1-24", "Q%q-%y", 1704067200}};
  for (const auto& [text, format, seconds] : rows) {
    CAPTURE(text);
    const TimeColumn column = read({text});
    CHECK(column.format.text() == format);
    CHECK(column.times[0] == at(seconds));
    CHECK(column.format.write(column.times[0], column.zone) == text);
  }
}

TEST_CASE("words of other languages and clocks are read") {
  struct Row {
    const char* text;
    std::int64_t seconds;
  };
  constexpr std::int64_t kDay = 1706659200;  // 2024-01-31
  const Row rows[] = {{"31. Januar 2024", kDay},
                      {"31 janvier 2024", kDay},
                      {"31 janv. 2024", kDay},
                      {"31 enero 2024", kDay},
                      {"31 de enero de 2024", kDay},
                      {"31 gennaio 2024", kDay},
                      {"31 januari 2024", kDay},
                      {"1. M\xC3\xA4rz 2024", kDay + 30 * 86400},
                      {"1 f\xC3\xA9vr. 2024", kDay + 86400},
                      {"Mittwoch, 31. Januar 2024", kDay},
                      {"Mi. 31.01.2024", kDay},
                      {"2024-01-31 13:05 CET", kDay + 12 * 3600 + 300},
                      {"2024-01-31 13:05 EDT", kDay + 17 * 3600 + 300},
                      {"31.01.2024 01:05 p.m.", kDay + 13 * 3600 + 300},
                      {"31.01.2024 01:05 a. m.", kDay + 3900},
                      {"/Date(1706659200000)/", kDay},
                      {"31.01.2024 13:00 - 14:00", kDay + 13 * 3600}};
  for (const auto& [text, seconds] : rows) {
    CAPTURE(text);
    CHECK(read({text}).times[0] == at(seconds));
  }
  CHECK_THROWS_AS(read({"31 jui 2024"}), InputError);  // juin or juillet
  CHECK_THROWS_AS(read({"2024-01-31 13:05-13:30"}), InputError);
}

TEST_CASE(
    "hours from one to the next are no offsets, and weekdays and even rows decide which number is the day") {
  const TimeColumn hours =
      read({"2024-01-31 00:00-01:00", "2024-01-31 01:00-02:00", "2024-01-31 23:00-00:00"});
  CHECK(hours.times == std::vector<Instant>{at(1706659200), at(1706662800), at(1706742000)});
  CHECK(hours.format.text() == "%Y-%m-%d %H:%M");
  CHECK(read({"2024-01-31 00:00-01:00", "2024-01-31 01:00-01:00"}).zone.name() == "-01:00");
  CHECK(read({"Mon 05/02/2024"}).times[0] == at(1707091200));
  CHECK(read({"Thu 05/02/2024"}).times[0] == at(1714608000));
  std::vector<std::string> texts;
  for (int hour = 0; hour < 48; ++hour)
    texts.push_back("03/0" + std::to_string(4 + hour / 24) + "/2024 " + std::to_string(hour % 24) + ":00");
  CHECK(date_order_of(read(texts).format) == DateOrder::month_first);
  std::vector<std::string> days;  // of a month, or months on one day
  for (int day = 1; day <= 12; ++day)
    days.push_back((day < 10 ? "0" : "") + std::to_string(day) + "/02/2024");
  CHECK(message(days).find("no row has a day above 12") != std::string::npos);
}

TEST_CASE("offsets that change with the clock of a place are of its zone") {
  const TimeColumn berlin =
      read({"2020-10-25T00:00:00+02:00", "2020-10-25T02:00:00+02:00", "2020-10-25T02:00:00+01:00"});
  CHECK(berlin.zone.name() == "Europe/Berlin");
  CHECK_FALSE(berlin.has_several_offsets);
  CHECK(berlin.times[2] - berlin.times[1] == kOneHour);
  CHECK(read({"2020-03-08T00:00-05:00", "2020-03-09T00:00-04:00"}).zone.name() == "America/New_York");
  const TimeColumn none = read({"2020-10-25T00:00:00+02:00", "2020-10-25T00:30:00+01:00"});
  CHECK(none.zone.is_utc());
  CHECK(none.has_several_offsets);
}

TEST_CASE("numbered periods of a day begin at their parts of it") {
  TimeDetector detector;
  detector.called({"SETTLEMENT_DATE", "SETTLEMENT_PERIOD"});
  for (const char* period : {"1", "2", "48"}) detector.see_clock(period);
  for (const char* period : {"1", "2", "48"}) add(detector, {"2024-01-31", period});
  CHECK(detector.finish(place_of).times ==
        std::vector<Instant>{at(1706659200), at(1706661000), at(1706659200 + 47 * 1800)});
  TimeDetector intervals;
  add(intervals, {"31.01.2024", "13 - 14"});
  CHECK(intervals.finish(place_of).times[0] == at(1706659200 + 13 * 3600));
}

TEST_CASE("fractions of seconds keep their digits") {
  CHECK(read({"2024-01-31 13:05:07.123456789"}).times[0] == at(1706706307) + 123456789);
  CHECK(read({"1706706307.000000001"}).times[0] == at(1706706307) + 1);
  CHECK(read({"1706706307123.5"}).times[0] == at(1706706307) + 123500000);
  CHECK(read({"1.7067063070e+09"}).times[0] == at(1706706307));
  const TimeColumn mixed = read({"2024-01-31", "2024-01-31 01:00:00", "2024-01-31 01:00:00.25"});
  CHECK(mixed.format.text() == "%Y-%m-%d %H:%M:%S.%2f");
  CHECK(mixed.times[2] - mixed.times[0] == kOneHour + kOneSecond / 4);
  CHECK(mixed.format.write(mixed.times[0]) == "2024-01-31 00:00:00.00");
  // An hour is 0.0416666... of a day, a minute 0.000694...
  CHECK(read({"45322.0417"}).times[0] == at(1706659200 + 3600));
  CHECK(read({"45322.041667"}).times[0] == at(1706659200 + 3600));
  CHECK(read({"45322.0416666667", "45322.0423611111"}).times[1] == at(1706659200 + 3660));
}

TEST_CASE("a date and a time of day of two columns are one time") {
  TimeDetector detector;
  add(detector, {"16/12/2006", "17:24:00"});
  add(detector, {"16/12/2006", "24:00:00"});
  const TimeColumn column = detector.finish(place_of);
  CHECK(column.format.text() == "%d/%m/%Y %H:%M:%S");
  CHECK(column.times == std::vector<Instant>{at(1166289840), at(1166313600)});
  TimeDetector points;
  add(points, {"10/03/2004", "18.00.00"});
  add(points, {"30/03/2004", "19.00.00"});
  CHECK(points.finish(place_of).times[0] == at(1078941600));
  TimeDetector hours;
  add(hours, {"20191231", "24"});
  CHECK(hours.finish(place_of).times[0] == at(1577836800));
}

TEST_CASE("year, month, day, hour, minute and second of columns of their own are one time") {
  const auto read_parts = [](const std::vector<std::vector<std::string_view>>& rows) {
    TimeDetector detector;
    for (const std::vector<std::string_view>& row : rows) detector.add(row);
    return detector.finish(place_of).times;
  };
  CHECK(read_parts({{"2024", "1", "31", "0"}, {"2024", "2", "1", "13"}}) ==
        std::vector<Instant>{at(1706659200), at(1706792400)});
  CHECK(read_parts({{"2024", "1", "31", "9", "5", "7"}})[0] == at(1706659200 + 9 * 3600 + 5 * 60 + 7));
  CHECK(read_parts({{"2024", "01", "31"}})[0] == at(1706659200));
  CHECK(read_parts({{"2024", "2"}, {"2024", "12"}})[0] == at(1706745600));
  CHECK_THROWS_AS(read_parts({{"2024", "13", "1"}}), InputError);
  CHECK_THROWS_AS(read_parts({{"2024", "2", "30"}}), InputError);
}

TEST_CASE("names of columns say what days, weeks and quarters are counted") {
  const auto read_parts = [](std::vector<std::string> names, const std::vector<std::string_view>& row) {
    TimeDetector detector;
    detector.called(std::move(names));
    row.size() == 1 ? detector.add(row[0]) : detector.add(row);
    return detector.finish(place_of).times[0];
  };
  CHECK(read_parts({"year", "doy"}, {"2024", "31"}) == at(1706659200));
  CHECK(read_parts({"YEAR", "Julian day"}, {"2024", "5"}) == at(1704412800));
  CHECK(read_parts({"year", "day_of_year", "hour", "minute"}, {"2024", "031", "13", "5"}) == at(1706706300));
  CHECK(read_parts({"year", "week"}, {"2024", "5"}) == at(1706486400));
  CHECK(read_parts({"year", "quarter"}, {"2024", "Q2"}) == at(1711929600));
  CHECK(read_parts({"year", "month"}, {"2024", "2"}) == at(1706745600));
  CHECK(read_parts({"MJD"}, {"60340"}) == at(1706659200));
  CHECK(read_parts({"day"}, {"60340"}) == at(3004214400));
  CHECK(count_called("t_ms") == TimeCount::milliseconds);
  CHECK(count_called("Time [h]") == TimeCount::hours);
  CHECK(count_called("BJD") == TimeCount::julian_days);
  CHECK(!count_called("time"));
}

TEST_CASE("counts of minutes, hours and days begin in 1970") {
  for (const auto& [format, text, seconds] :
       {std::tuple("minutes", "1.5", 90), {"hours", "0.25", 900}, {"days", "2.5", 216000}}) {
    const TimeColumn column = read({text}, TimeDetector(TimeFormat(format)));
    CHECK(column.times[0] == at(seconds));
    CHECK(column.format.write(column.times[0]) == text);
  }
}

TEST_CASE("years of two digits are first where only that puts the rows in order") {
  const TimeColumn column = read({"20/01/30", "20/01/31", "20/02/01"});
  CHECK(column.format.text() == "%y/%m/%d");
  CHECK(column.times[2] == at(1580515200));
  CHECK(read({"30/01/20", "31/01/20", "01/02/20"}).times[2] == at(1580515200));
  CHECK(read({"20-01-30"}).times[0] == at(1580342400));
}

TEST_CASE("day and month that could be each other are asked for, unless rows decide") {
  CHECK(read({"01/02/2020", "13/02/2020"}).times[0] == at(1580515200));
  CHECK(read({"01/02/2020", "02/13/2020"}).times[0] == at(1577923200));
  CHECK(has(message({"01/01/2020", "01/02/2020"}),
            "line 2: this may be '01 February 2020', by '%d/%m/%Y', or '02 January 2020', by '%m/%d/%Y', and "
            "no row has a "
            "day above 12"));
  CHECK(read({"01/01/2020"}).times[0] == at(1577836800));
}

TEST_CASE("the first text that no format reads is named with its row") {
  CHECK(has(message({"2024-01-31", "31.01.2024"}),
            "line 2: expected a date such as 2024-01-31 13:00, here as the rows before "
            "it are written: %Y-%m-%d, got '31.01.2024'"));
  CHECK(has(message({"tomorrow"}),
            "line 1: expected a date such as 2024-01-31 13:00, or seconds since 1970, got 'tomorrow'"));
  CHECK(has(message({"1706706307", "x"}), "line 2: expected a number as in the rows before, got 'x'"));
  CHECK(has(message({"31/01/2024", "01/31/2024"}), "line 2"));
  CHECK(
      has(message({"2024-01-31 13:00Z", "2024-01-31 14:00"}), "line 2: some times have an offset from UTC"));
  CHECK(
      has(message({"2024-01-31 13:00", "2024-01-31 14:00Z"}), "line 2: some times have an offset from UTC"));
  for (const char* text :
       {"2023-02-29", "2024-13-01", "2024-01-31 25:00", "2024-01-31x", "2024-01-31 24:01", "1600-01-01",
        "2300-01-01", "0:30 PM", "2024-01-31 13:00 PM", "2024-01-31 13:00:00+2", "2024Q5", "", "inf"}) {
    CAPTURE(text);
    CHECK(has(message({text}), "expected a date"));
  }
}

TEST_CASE("numbers that are hardly times are refused with what they look like") {
  CHECK(has(message({"0", "1", "2"}),
            "not times between 1900 and 2100. They look like a counter: from 0 in steps of 1"));
  CHECK(has(message({"1958.2", "1958.3"}), "years with a fraction"));
  CHECK(has(message({"0", "5", "23"}), "hours of a day"));
  CHECK(has(message({"3.5", "-4"}), "numbers from -4 to 3"));
  CHECK(
      has(message({"-9000000000000000000", "9000000000000000000"}), "numbers from -9000000000000000000 to"));
  CHECK(read({"0", "1", "2"}, TimeDetector(TimeFormat("seconds"))).times[2] == at(2));
  CHECK(read({"0.5"}, TimeDetector(TimeFormat("%s"))).times[0] == kOneSecond / 2);
  CHECK(read({"120000"}, TimeDetector(TimeFormat("spreadsheet"))).times[0] == 94431 * kOneDay);  // in 2228
  CHECK(has(message({"99999999999"}, TimeDetector(TimeFormat("seconds"))),
            "seconds between the years 1678 and 2261"));
}

TEST_CASE("days and weeks that a year does not have are refused") {
  for (const char* text : {"2023-366", "2024-367", "2021-W53", "2024-W00", "2024-W05-8"})
    CHECK(
        has(message({"2020-366", text}) + message({"2020-W53", text}) + message({"2020-W53-5", text}), text));
  CHECK(has(input_error_of([] { TimeFormat("%G-%m"); }), "go together"));
}

TEST_CASE("a format that is named reads its texts alone") {
  const TimeFormat format("%H:%M on %d.%m.%y");
  CHECK(read({"13:05 on 31.01.24"}, TimeDetector(format)).times[0] == at(1706706300));
  CHECK(has(
      message({"13:05 on 31.01.24", "31.01.24"}, TimeDetector(format)),
      "line 2: expected a time as '%H:%M on %d.%m.%y' writes it, such as 13:00 on 31.01.24, got '31.01.24'"));
  CHECK(has(input_error_of([] { TimeFormat("%Y-%Q"); }), "unknown letter of times '%Q'"));
  CHECK(has(input_error_of([] { TimeFormat("%H:%M"); }), "a format of times has a year"));
  CHECK(has(input_error_of([] { TimeFormat("secnds"); }), "did you mean 'seconds'?"));
  CHECK(read({"060 2024"}, TimeDetector(TimeFormat("%j %Y"))).times[0] == at(1709164800));
}

TEST_CASE("a single time is read where nothing else could be meant") {
  CHECK(read_time("2024-01-31T13:05:07.25+02:00")->time == at(1706699107) + kOneSecond / 4);
  CHECK(read_time("2024-01-31T13:05:07.25+02:00")->offset == 7200);
  CHECK(read_time("2024/01/31")->is_date);
  CHECK(read_time("31.01.2024 13:05")->time == at(1706706300));
  for (const char* text : {"", "load", "01/02/2024", "1706706300", "2024-01", "2024-01-31x"})
    CHECK(!read_time(text));
}
