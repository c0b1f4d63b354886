#include "lagtape/data/time/frequency.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

namespace {

using Unit = Frequency::Unit;

constexpr std::int64_t kOneWeek = 7 * kOneDay;

constexpr Frequency of_length(std::int64_t nanoseconds) {
  return {nanoseconds % kOneDay == 0 ? Unit::local : Unit::nanosecond, nanoseconds};
}
constexpr Frequency of_months(std::int64_t months, int day = 0) { return {Unit::month, months, day}; }

/// One step, and its names: the one that is written, pandas' old and new ones, and ordinary ones.
struct NamedFrequency {
  Frequency frequency;
  std::array<std::string_view, 5> names;

  std::string_view name() const { return names[0]; }
};
constexpr NamedFrequency kNames[] = {
    {of_length(1), {"ns", "N"}},
    {of_length(1000), {"us", "U"}},
    {of_length(1'000'000), {"ms", "L"}},
    {of_length(kOneSecond), {"s", "S", "second"}},
    {of_length(kOneMinute), {"min", "T", "minute"}},
    {of_length(kOneHour), {"h", "H", "hour", "hourly"}},
    {of_length(kOneDay), {"D", "d", "day", "daily"}},
    {of_length(kOneWeek), {"W", "w", "week", "weekly"}},
    {{Unit::business, 1}, {"business", "B"}},
    {of_months(1, 1), {"month_start", "MS"}},
    {of_months(1, Frequency::kLastDay), {"month_end", "ME"}},
    {of_months(1, Frequency::kFirstBusinessDay), {"business_month_start", "BMS"}},
    {of_months(1, Frequency::kLastBusinessDay), {"business_month_end", "BME", "BM"}},
    {of_months(1), {"month", "M", "monthly"}},
    {of_months(3, 1), {"quarter_start", "QS"}},
    {of_months(3, Frequency::kLastDay), {"quarter_end", "QE"}},
    {of_months(3, Frequency::kFirstBusinessDay), {"business_quarter_start", "BQS"}},
    {of_months(3, Frequency::kLastBusinessDay), {"business_quarter_end", "BQE", "BQ"}},
    {of_months(3), {"quarter", "Q", "quarterly"}},
    {of_months(12, 1), {"year_start", "YS", "AS"}},
    {of_months(12, Frequency::kLastDay), {"year_end", "YE"}},
    {of_months(12, Frequency::kFirstBusinessDay), {"business_year_start", "BYS", "BAS"}},
    {of_months(12, Frequency::kLastBusinessDay), {"business_year_end", "BYE", "BY", "BA"}},
    {of_months(12), {"year", "Y", "A", "yearly", "annual"}},
};

/// "SUN" for "sunday", "JAN" for "january".
std::string code_of(std::string_view name) {
  std::string code(name.substr(0, 3));
  for (char& c : code) c = static_cast<char>(c - 'a' + 'A');
  return code;
}

template <class Names>
int code_in(const Names& names, std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text.size() == 3 && begins_with_word(text, names[i].substr(0, 3))) return static_cast<int>(i);
  return -1;
}

/// Reads what follows a name: "SUN" of weeks, "JAN", "15" or "FEB-29" of months. Returns false for others.
bool read_suffix(std::string_view text, Frequency& frequency) {
  const std::string_view part = text.substr(0, text.find('-'));
  const bool is_last = part.size() == text.size();
  if (frequency.unit == Unit::local && frequency.count % kOneWeek == 0)
    return is_last && (frequency.anchor = code_in(kWeekdays, part)) >= 0;
  if (frequency.unit == Unit::nanosecond && part == "local") {
    frequency.unit = Unit::local;
    return is_last;
  }
  if (frequency.unit != Unit::month) return false;
  if (const int month = code_in(kMonths, part); month >= 0 && frequency.count > 1 && frequency.anchor < 0) {
    frequency.anchor = month;
    return is_last || read_suffix(text.substr(part.size() + 1), frequency);
  }
  const int had_day = frequency.day;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), frequency.day);
  return is_last && had_day == 0 && error == std::errc() && end == part.data() + part.size() &&
         frequency.day >= 1 && frequency.day <= 31;
}

std::optional<Frequency> frequency_in(std::string_view text) {
  std::int64_t count = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc()) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  take_blanks(text);
  const std::string_view name = text.substr(0, text.find('-'));
  const auto is_plural = [&](std::string_view one) { return one.size() > 2 && name == text_of(one, "s"); };
  const auto* found = std::ranges::find_if(kNames, [&](const NamedFrequency& one) {
    return !name.empty() && (std::ranges::find(one.names, name) != one.names.end() ||
                             std::ranges::any_of(one.names, is_plural));
  });
  if (error == std::errc::result_out_of_range || count < 1 || found == std::end(kNames)) return {};
  Frequency frequency = found->frequency;
  const bool has_length = frequency.unit == Unit::nanosecond || frequency.unit == Unit::local;
  if (count > (has_length ? 36525 * kOneDay : std::int64_t{1200}) / frequency.count) return {};
  frequency.count *= count;
  if (name.size() < text.size() && !read_suffix(text.substr(name.size() + 1), frequency)) return {};
  return frequency.with_anchor(frequency.anchor);
}

/// "15min", "2month_start": a multiple of the longest named unit that divides it.
std::string name_of_steps(Unit unit, std::int64_t count, int day) {
  const NamedFrequency* longest = nullptr;
  for (const NamedFrequency& named : kNames) {
    const Frequency& one = named.frequency;
    if (one.unit == unit && one.day == day && count % one.count == 0 &&
        (!longest || one.count > longest->frequency.count))
      longest = &named;
  }
  const std::int64_t steps = count / longest->frequency.count;
  return steps == 1 && unit >= Unit::business ? std::string(longest->name())
                                              : text_of(steps, longest->name());
}

}  // namespace

Frequency Frequency::parse(std::string_view text) {
  if (const auto frequency = frequency_in(text)) return *frequency;
  std::vector<std::string> names;
  for (const NamedFrequency& named : kNames)
    for (const std::string_view name : named.names)
      if (!name.empty()) names.emplace_back(name);
  Problem problem = unknown_name("frequency", text, names);
  problem.expected =
      "15min, 1h, 1D, business, 1W, month_start, month_end, quarter, year, multiples of them, and the names "
      "of pandas";
  throw InputError(std::move(problem));
}

Frequency Frequency::with_anchor(int anchor) const {
  Frequency result = *this;
  result.anchor = anchor;
  if (unit != Unit::month || anchor < 0) return result;
  const int period = static_cast<int>(std::gcd(count, std::int64_t{12}));
  result.anchor = anchor % period;
  const bool is_first = day == 1 || day == kFirstBusinessDay;
  const bool is_last = day == kLastDay || day == kLastBusinessDay;
  const bool is_usual = (is_first && result.anchor == 0) || (is_last && result.anchor == 11 % period);
  if (is_usual || period == 1) result.anchor = -1;
  return result;
}

std::string Frequency::name() const {
  if (unit == Unit::local && count % kOneDay != 0)
    return name_of_steps(Unit::nanosecond, count, 0) + "-local";
  std::string text = name_of_steps(unit, count, is_named_day(day) ? day : 0);
  const auto place = static_cast<std::size_t>(anchor);
  if (anchor >= 0) text += "-" + code_of(unit == Unit::month ? kMonths[place] : kWeekdays[place]);
  return is_named_day(day) ? text : text_of(text, "-", day);
}

std::vector<std::int64_t> Frequency::seasons() const {
  std::vector<std::int64_t> periods = {kOneDay, kOneWeek};
  if (unit == Unit::nanosecond && count < kOneMinute) periods = {kOneMinute, kOneHour, kOneDay};
  if (unit == Unit::local && count >= kOneDay)
    periods = {kOneWeek, (count % kOneWeek == 0 ? 364 : 365) * kOneDay};
  if (unit == Unit::business) periods = {5, 260};
  if (unit == Unit::month) periods = {12};
  std::vector<std::int64_t> steps;
  for (const std::int64_t period : periods)
    if (period % count == 0 && period > count) steps.push_back(period / count);
  return steps;
}

std::optional<std::int64_t> Frequency::steps_in(const Frequency& length) const {
  const auto kind = [](Unit of) { return of == Unit::local ? Unit::nanosecond : of; };
  if (kind(unit) != kind(length.unit) || length.count % count != 0) return {};
  return length.count / count;
}

bool Frequency::is_days() const {
  return unit != Unit::nanosecond && (unit != Unit::local || count % kOneDay == 0);
}

std::string duration_text(std::int64_t nanoseconds) {
  const bool is_days = nanoseconds % kOneDay == 0;
  return is_days ? text_of(nanoseconds / kOneDay, "D") : name_of_steps(Unit::nanosecond, nanoseconds, 0);
}

}  // namespace lagtape
