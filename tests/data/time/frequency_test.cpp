#include "lagtape/data/time/frequency.h"

#include <doctest/doctest.h>

#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

TEST_CASE("names of business days of months read back") {
  for (const auto& [text, name] : std::vector<std::pair<std::string, std::string>>{
           {"BME", "business_month_end"},
           {"BMS", "business_month_start"},
           {"BQE-DEC", "business_quarter_end"},
           {"BQS-FEB", "business_quarter_start-FEB"},
           {"BYE", "business_year_end"},
       }) {
    CHECK(Frequency::parse(text).name() == name);
    CHECK(Frequency::parse(name) == Frequency::parse(text));
  }
}

TEST_CASE("names of frequencies are read, and written as one of them") {
  const std::pair<const char*, const char*> names[] = {
      {"15min", "15min"},
      {"60min", "1h"},
      {"h", "1h"},
      {"T", "1min"},
      {"S", "1s"},
      {"250ms", "250ms"},
      {"7ns", "7ns"},
      {"24h", "24h"},
      {"D", "1D"},
      {"2D", "2D"},
      {"7D", "1W"},
      {"1W", "1W"},
      {"W-SUN", "1W-SUN"},
      {"2W-FRI", "2W-FRI"},
      {"business", "business"},
      {"B", "business"},
      {"2B", "2business"},
      {"month", "month"},
      {"M", "month"},
      {"MS", "month_start"},
      {"ME", "month_end"},
      {"month-15", "month-15"},
      {"3MS", "quarter_start"},
      {"2MS", "2month_start"},
      {"quarter", "quarter"},
      {"QS", "quarter_start"},
      {"QE", "quarter_end"},
      {"QE-DEC", "quarter_end"},
      {"QS-OCT", "quarter_start"},
      {"QE-NOV", "quarter_end-FEB"},
      {"year", "year"},
      {"YS", "year_start"},
      {"YE-DEC", "year_end"},
      {"YE-JUN", "year_end-JUN"},
      {"year-FEB-29", "year-FEB-29"},
      {"A", "year"},
      {"6h-local", "6h-local"},
      {"daily", "1D"},
      {"3 months", "quarter"},
      {"2 weeks", "2W"},
      {"90 mins", "90min"},
  };
  for (const auto& [text, name] : names) {
    CAPTURE(text);
    const Frequency frequency = Frequency::parse(text);
    CHECK(frequency.name() == name);
    CHECK(Frequency::parse(frequency.name()) == frequency);
  }
  for (const char* text :
       {"", "0h", "-1h", "x", "1", "1h-SUN", "W-XXX", "month-0", "month-32", "month_start-15",
        "99999999999999h", "1e3h", "9999999999year", "99999business", "month-FEB", "D-SUN"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Frequency::parse(text), InputError);
  }
  CHECK(input_error_of([] { Frequency::parse("bussiness"); }).find("did you mean 'business'?") !=
        std::string::npos);
}

TEST_CASE("seasons are what comes back in the calendar") {
  using Steps = std::vector<std::int64_t>;
  CHECK(Frequency::parse("1h").seasons() == Steps{24, 168});
  CHECK(Frequency::parse("15min").seasons() == Steps{96, 672});
  CHECK(Frequency::parse("1s").seasons() == Steps{60, 3600, 86400});
  CHECK(Frequency::parse("1D").seasons() == Steps{7, 365});
  CHECK(Frequency::parse("1W").seasons() == Steps{52});
  CHECK(Frequency::parse("business").seasons() == Steps{5, 260});
  CHECK(Frequency::parse("month_end").seasons() == Steps{12});
  CHECK(Frequency::parse("quarter").seasons() == Steps{4});
  CHECK(Frequency::parse("year").seasons().empty());
  CHECK(Frequency::parse("MS").same_steps(Frequency::parse("ME")));
  CHECK(!Frequency::parse("1h").same_steps(Frequency::parse("15min")));
}

TEST_CASE("a length of time is a number of steps, or none") {
  struct Case {
    const char *rows, *length;
    std::optional<std::int64_t> steps;
  };
  const Case cases[] = {{"1h", "2d", 48},      {"1h", "48h", 48},      {"30min", "90min", 3},
                        {"1D", "1W", 7},       {"1W-SUN", "28D", 4},   {"month_end", "2 years", 24},
                        {"quarter", "1Y", 4},  {"business", "5B", 5},  {"1h", "90min", {}},
                        {"1D", "1 month", {}}, {"business", "1W", {}}, {"1W", "3D", {}},
                        {"6h-local", "1D", 4}, {"1D", "12h", {}},      {"month_start", "30D", {}}};
  for (const auto& [rows, length, steps] : cases) {
    CAPTURE(rows);
    CAPTURE(length);
    CHECK(Frequency::parse(rows).steps_in(Frequency::parse(length)) == steps);
  }
}
