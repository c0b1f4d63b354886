#include "lagtape/data/time/time_grid.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

using Unit = Frequency::Unit;
using Days = std::vector<std::int64_t>;

/// The number of business days before a day.
std::int64_t business_days_before(std::int64_t day, const Days& holidays) {
  const std::int64_t since_monday = day + 3;  // 1969-12-29 was a Monday
  const std::int64_t days =
      5 * floor_div(since_monday, 7) + std::min<std::int64_t>(floor_mod(since_monday, 7), 5);
  return days - (std::ranges::lower_bound(holidays, day) - holidays.begin());
}

/// The business day before which there are that many.
std::int64_t business_day(std::int64_t number, const Days& holidays) {
  std::int64_t with_holidays = number;
  while (true) {
    const std::int64_t day = 7 * floor_div(with_holidays, 5) + floor_mod(with_holidays, 5) - 3;
    const std::int64_t next = number + (std::ranges::upper_bound(holidays, day) - holidays.begin());
    if (next == with_holidays) return day;
    with_holidays = next;
  }
}

/// The approximate year of a number of units, with its fraction.
double year_of(Unit unit, double units) {
  constexpr double kDaysAYear = 365.2425;
  if (unit == Unit::month) return units / 12;
  return 1970 + units / (unit == Unit::business ? kDaysAYear * 5 / 7 : kDaysAYear * kOneDay);
}

/// The day of the month for steps, from the first time.
int step_day(const std::chrono::year_month_day& date) {
  const int day = static_cast<int>(static_cast<unsigned>(date.day()));
  const int last =
      days_in_month(static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())));
  return day == last ? Frequency::kLastDay : day;
}

}  // namespace

std::vector<std::int64_t> business_holidays(std::vector<std::int64_t> holidays) {
  std::erase_if(holidays, [](std::int64_t day) { return weekday_of(day) > 4; });
  std::ranges::sort(holidays);
  holidays.erase(std::ranges::unique(holidays).begin(), holidays.end());
  return holidays;
}

std::int64_t day_of_month(int year, int month, int day, const std::vector<std::int64_t>& holidays) {
  const int last = days_in_month(year, month);
  if (day == Frequency::kFirstBusinessDay)
    return business_day(business_days_before(day_of(year, month, 1), holidays), holidays);
  if (day == Frequency::kLastBusinessDay)
    return business_day(business_days_before(day_of(year, month, last) + 1, holidays) - 1, holidays);
  return day_of(year, month, std::min(day, last));
}

TimeGrid::TimeGrid(Frequency frequency, Instant origin, TimeCalendar calendar)
    : frequency_(frequency), calendar_(std::move(calendar)) {
  calendar_.holidays = business_holidays(std::move(calendar_.holidays));
  const Instant local = zone().to_calendar(origin);
  const std::int64_t day = floor_div(local, kOneDay);
  clock_ = local - day * kOneDay;
  const auto date = date_of(day);
  if (frequency_.unit == Unit::month) {
    if (frequency_.day == 0) frequency_.day = step_day(date);
    frequency_ = frequency_.with_anchor(static_cast<int>(static_cast<unsigned>(date.month())) - 1);
  } else if (frequency_.unit == Unit::local && frequency_.count % (7 * kOneDay) == 0) {
    frequency_.anchor = weekday_of(day);
  }
  origin_ = unit_of(origin);
}

std::int64_t TimeGrid::unit_of(Instant time) const {
  if (frequency_.unit == Unit::nanosecond) return time;
  const Instant local = zone().to_calendar(time);
  if (frequency_.unit == Unit::local) return local;
  const std::int64_t day = floor_div(local, kOneDay);
  if (frequency_.unit == Unit::business) return business_days_before(day, calendar_.holidays);
  const auto date = date_of(day);
  return 12 * static_cast<int>(date.year()) + static_cast<int>(static_cast<unsigned>(date.month())) - 1;
}

Instant TimeGrid::time_of(std::int64_t unit) const {
  if (frequency_.unit == Unit::nanosecond) return unit;
  if (frequency_.unit == Unit::local) return zone().to_utc(unit);
  if (frequency_.unit == Unit::business)
    return zone().to_utc(business_day(unit, calendar_.holidays) * kOneDay + clock_);
  const int year = static_cast<int>(floor_div(unit, 12)), month = static_cast<int>(floor_mod(unit, 12)) + 1;
  return zone().to_utc(day_of_month(year, month, frequency_.day, calendar_.holidays) * kOneDay + clock_);
}

Instant TimeGrid::time(std::int64_t step) const {
  // The product may exceed the 292 years that a difference of instants can hold; the sum does not.
  constexpr double kSpare = 0.2;  // an Instant can hold some months more
  const double year =
      year_of(frequency_.unit, static_cast<double>(origin_) +
                                   static_cast<double>(step) * static_cast<double>(frequency_.count));
  if (year < kFirstYear - kSpare || year > kLastYear + 1 + kSpare)
    throw InputError({}, Rule::out_of_range,
                     text_of("times are of the years ", kFirstYear, " to ", kLastYear, ", and ", step,
                             " steps of the frequency ", frequency_.name(), " reach beyond them."));
  const auto units = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(frequency_.count);
  return time_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(origin_) + units));
}

std::int64_t TimeGrid::step_before(Instant time) const {
  const std::int64_t unit = unit_of(time), count = frequency_.count;
  std::int64_t step = floor_div(unit, count) - floor_div(origin_, count);
  if (floor_mod(unit, count) < floor_mod(origin_, count)) --step;
  while (this->time(step) > time) --step;
  return step;
}

std::optional<std::int64_t> TimeGrid::step(Instant time) const {
  const std::int64_t step = step_before(time);
  return this->time(step) == time ? std::optional(step) : std::nullopt;
}

}  // namespace lagtape
