#include "lagtape/data/time/time_count.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lagtape/data/time/time_names.h"

namespace lagtape {

namespace {

struct CountUnit {
  std::string_view name;
  std::int64_t unit;        ///< nanoseconds
  std::int64_t origin = 0;  ///< days since 1970
  Instant begins = 0;       ///< the time of day at which the number is an integer
};

constexpr std::array<CountUnit, 12> kUnits = {{{"seconds", kOneSecond},
                                               {"milliseconds", 1'000'000},
                                               {"microseconds", 1000},
                                               {"nanoseconds", 1},
                                               {"minutes", kOneMinute},
                                               {"hours", kOneHour},
                                               {"days", kOneDay},
                                               {"spreadsheet", kOneDay, day_of(1899, 12, 30)},
                                               {"julian_days", kOneDay, -2'440'588, kOneDay / 2},
                                               {"modified_julian_days", kOneDay, -40'587},
                                               {"matlab_days", kOneDay, -719'529},
                                               {"hours_since_1900", kOneHour, day_of(1900, 1, 1)}}};

const CountUnit& unit_of(TimeCount count) { return kUnits[static_cast<std::size_t>(count)]; }

}  // namespace

std::string_view name_of(TimeCount count) { return unit_of(count).name; }

std::optional<TimeCount> count_named(std::string_view name) {
  const auto* found = std::ranges::find(kUnits, name, &CountUnit::name);
  return found == kUnits.end() ? std::nullopt : std::optional(static_cast<TimeCount>(found - kUnits.begin()));
}

std::vector<std::string> names_of_counts() {
  std::vector<std::string> names;
  for (const CountUnit& unit : kUnits) names.emplace_back(unit.name);
  return names;
}

std::optional<TimeCount> count_called(std::string_view column) {
  struct Called {
    TimeCount count;
    std::initializer_list<std::string_view> words;
  };
  static const Called kCalled[] = {
      {TimeCount::matlab_days, {"datenum", "matlab"}},
      {TimeCount::modified_julian_days, {"mjd", "modified"}},
      {TimeCount::julian_days, {"jd", "bjd", "hjd", "julian"}},
      {TimeCount::milliseconds, {"ms", "msec", "millis", "millisecond", "milliseconds"}},
      {TimeCount::microseconds, {"us", "usec", "micros", "microsecond", "microseconds"}},
      {TimeCount::nanoseconds, {"ns", "nsec", "nanos", "nanosecond", "nanoseconds"}},
      {TimeCount::minutes, {"min", "mins", "minute", "minutes", "minuten"}},
      {TimeCount::hours, {"h", "hr", "hrs", "hour", "hours", "stunde", "stunden"}},
      {TimeCount::days, {"d", "day", "days", "doy", "jday", "yday", "dayofyear", "tag", "tage"}},
      {TimeCount::seconds, {"s", "sec", "secs", "second", "seconds", "sekunde", "sekunden"}}};
  if (has_word(column, {"hours", "hour"}) && has_word(column, {"1900"})) return TimeCount::hours_since_1900;
  for (const auto& [count, words] : kCalled)
    if (has_word(column, words)) return count;
  return {};
}

std::optional<CountText> read_count(std::string_view text) {
  constexpr std::string_view kDate = "/Date(", kEnd = ")/";  // in .NET's JSON, in milliseconds
  if (text.starts_with(kDate) && text.ends_with(kEnd))
    text = text.substr(kDate.size(), text.size() - kDate.size() - kEnd.size());
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  CountText number;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, number.whole);
  if (error != std::errc() || text.front() == '-') return {};
  if (at != end && (*at == '.' || *at == ',') &&
      std::find_if(at, end, [](char c) { return c == 'e' || c == 'E'; }) == end) {
    std::int64_t digits = 0, scale = 1;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at, ++number.digits) {
      if (number.digits >= 17) continue;
      digits = 10 * digits + (*at - '0');
      scale *= 10;
    }
    number.fraction = static_cast<double>(digits) / static_cast<double>(scale);
  } else if (at != end) {
    double value = 0;
    const auto result = std::from_chars(text.data(), end, value);
    at = result.ptr;
    if (result.ec != std::errc() || !(value < 9e18)) return {};
    number.whole = static_cast<std::int64_t>(value);
    number.fraction = value - static_cast<double>(number.whole);
    number.digits = 9;
  }
  if (at != end) return {};
  if (is_negative) {
    number.whole = -number.whole - (number.fraction > 0 ? 1 : 0);
    if (number.fraction > 0) number.fraction = 1 - number.fraction;
  }
  return number;
}

std::optional<Instant> instant_of(TimeCount count, std::int64_t whole, double fraction, int digits) {
  const auto& [name, unit, origin, begins] = unit_of(count);
  const std::int64_t first = (day_of(kFirstYear, 1, 1) - origin) * (kOneDay / unit),
                     last = (day_of(kLastYear + 1, 1, 1) - origin) * (kOneDay / unit);
  if (whole < first || whole >= last) return {};
  const std::int64_t rest = std::llround(fraction * static_cast<double>(unit));
  if (unit != kOneDay) return (whole + origin * (kOneDay / unit)) * unit + rest;
  const std::int64_t step = digits <= 4 ? kOneMinute : digits <= 8 ? kOneSecond : kOneSecond / 1000;
  return (whole + origin) * kOneDay + begins + (rest + step / 2) / step * step;
}

std::string count_text(TimeCount count, Instant time) {
  const auto& [name, unit, origin, begins] = unit_of(count);
  const std::int64_t whole = floor_div(time - begins, unit) - origin * (kOneDay / unit),
                     rest = floor_mod(time - begins, unit);
  if (rest == 0) return std::to_string(whole);
  if (whole < 0 && origin == 0) {
    const std::string positive = count_text(count, -time);
    return "-" + positive;
  }
  // Ten digits of a day resolve less than a microsecond.
  char digits[32];
  const double fraction = static_cast<double>(rest) / static_cast<double>(unit);
  const auto written = std::to_chars(digits, digits + sizeof(digits), fraction, std::chars_format::fixed,
                                     unit == kOneDay ? 10 : 9);
  std::string_view text(digits + 1, static_cast<std::size_t>(written.ptr - digits - 1));  // without the zero
  return std::to_string(whole) + std::string(text.substr(0, text.find_last_not_of('0') + 1));
}

std::optional<TimeCount> plausible_count(std::int64_t lowest, std::int64_t highest, std::string_view column) {
  const auto is_between = [&](std::int64_t first, std::int64_t last) {
    return lowest >= first && highest <= last;
  };
  if (is_between(15'020, 88'069) && count_called(column) == TimeCount::modified_julian_days)
    return TimeCount::modified_julian_days;
  if (is_between(693'961, 767'375) && count_called(column) == TimeCount::matlab_days)
    return TimeCount::matlab_days;
  if (is_between(0, 1'761'936) && count_called(column) == TimeCount::hours_since_1900)
    return TimeCount::hours_since_1900;
  if (is_between(10'000, 73'050)) return TimeCount::spreadsheet_days;
  if (is_between(2'415'020, 2'488'069)) return TimeCount::julian_days;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t a_second = kOneSecond / kUnits[i].unit;
    const std::int64_t latest = day_of(2100, 12, 31) * 86400 * a_second,
                       earliest = day_of(1900, 1, 1) * 86400 * a_second;
    const std::int64_t largest = std::max(highest, -lowest);
    if (largest >= 100'000'000 * a_second && highest <= latest && lowest >= earliest)
      return static_cast<TimeCount>(i);
  }
  return {};
}

}  // namespace lagtape
