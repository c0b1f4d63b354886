#include "lagtape/data/time/time_detector.h"

#include <algorithm>
#include <functional>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/clock_text.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/interval_text.h"
#include "lagtape/data/time/known_formats.h"
#include "lagtape/data/time/text_cursor.h"
#include "lagtape/data/time/time_names.h"

namespace lagtape {

namespace {

const std::string kExample = "a date such as 2024-01-31 13:00";

/// A pattern whose days, months and names are written as they were found.
std::string seen_pattern(std::string_view pattern, std::uint32_t style) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    text += pattern[i];
    if (pattern[i] != '%') continue;
    char letter = pattern[++i];
    if ((letter == 'd' || letter == 'm' || letter == 'V') && (style & kOneDigit)) text += '-';
    if (letter == 'H' && (style & kOneDigitHour)) text += '-';
    if ((letter == 'b' || letter == 'a') && (style & kCapitals)) text += '^';
    if ((letter == 'b' || letter == 'a') && (style & kLongMonth)) letter = letter == 'b' ? 'B' : 'A';
    text += letter;
  }
  return text;
}

/// Forms of numbers that are not times.
std::string look_of(const std::vector<Instant>& whole, const std::vector<double>& fractions) {
  const auto [low, high] = std::ranges::minmax(whole);
  const bool is_whole = fractions.empty();
  if (is_whole && whole.size() > 1 && low > INT64_MIN / 2 && high < INT64_MAX / 2 && whole[0] != whole[1]) {
    const auto differs = [step = whole[1] - whole[0]](Instant a, Instant b) { return b - a != step; };
    if (std::ranges::adjacent_find(whole, differs) == whole.end())
      return text_of("a counter: from ", whole[0], " in steps of ", whole[1] - whole[0]);
  }
  if (!is_whole && low >= 1500 && high <= 2100) return "years with a fraction";
  if (is_whole && low >= 0 && high <= 23) return "hours of a day";
  return text_of("numbers from ", low, " to ", high);
}

/// Moves two-digit years that were read as 2060 and later back a century if only that puts the rows in order.
void put_in_century(std::vector<Instant>& times) {
  if (times.empty() || std::ranges::is_sorted(times)) return;
  std::vector<Instant> moved = times;
  for (Instant& time : moved)
    if (time > times.back()) {
      const std::int64_t day = floor_div(time, kOneDay);
      const auto date = date_of(day);
      const std::int64_t earlier =
          day_of(static_cast<int>(date.year()) - 100, static_cast<int>(static_cast<unsigned>(date.month())),
                 static_cast<int>(static_cast<unsigned>(date.day())));
      time += (earlier - day) * kOneDay;
    }
  if (std::ranges::is_sorted(moved)) times = std::move(moved);
}

/// Whether times, in any order and with equal repetitions, are all steps of a frequency from the first to the
/// last.
bool are_without_gap(std::vector<Instant> times) {
  constexpr std::size_t kFewest = 10;
  std::ranges::sort(times);
  const auto repeated = std::ranges::unique(times);
  times.erase(repeated.begin(), repeated.end());
  if (times.size() < kFewest) return false;
  try {
    return find_grid(times, {}, [](std::int64_t) { return Place(); }).gaps.empty();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

TimeDetector::TimeDetector(DateOrder order) : order_(order) {
  candidates_.push_back({});
  for (const KnownFormat& format : known_formats()) candidates_.push_back({.format = &format});
}

TimeDetector::TimeDetector(const TimeFormat& only) : only_(only.text()) {
  if (!only.count()) own_ = std::make_shared<const KnownFormat>(KnownFormat{.pattern = TimePattern(only_)});
  candidates_.push_back({.format = own_.get()});
}

bool TimeDetector::is_of_dates() const {
  return refused_ < 0 &&
         std::ranges::any_of(candidates_, [](const Candidate& c) { return c.format != nullptr; });
}

bool TimeDetector::is_of_numbers() const {
  return std::ranges::any_of(candidates_,
                             [](const Candidate& c) { return !c.format || c.format->is_number(); });
}

// ---- reading ----

bool TimeDetector::read_number(Candidate& candidate, std::string_view text) const {
  const auto number = read_count(text);
  if (!number) return false;
  candidate.times.push_back(number->whole);
  candidate.lowest = std::min(candidate.lowest, number->whole);
  candidate.highest = std::max(candidate.highest, number->whole);
  candidate.digits = std::max(candidate.digits, number->digits);
  if (number->fraction != 0) candidate.fractions.resize(candidate.times.size() - 1);
  if (number->fraction != 0 || !candidate.fractions.empty()) candidate.fractions.push_back(number->fraction);
  return true;
}

bool TimeDetector::read_date(Candidate& candidate, std::string_view text) const {
  const KnownFormat& format = *candidate.format;
  TimeParts parts;
  std::uint32_t style = candidate.style;
  if (!format.pattern.read(text, parts, style)) return false;
  if (parts.year < format.first_year || parts.year > format.last_year) return false;
  if (!text.empty() && !(format.takes_clock && read_clock(text, parts, style))) return false;
  const auto time = parts.instant();
  if (!time) return false;
  // A weekday settles whether the day or the month comes first.
  if (parts.named_weekday >= 0 && format.pattern.text().find("%m") != std::string::npos &&
      weekday_of(day_of(parts.year, parts.month, parts.day)) != parts.named_weekday)
    return false;
  std::vector<OffsetChange>& offsets = candidate.offsets;
  const bool had_offset = !offsets.empty();
  if (parts.has_offset && (!had_offset || offsets.back().offset != parts.offset))
    offsets.push_back({candidate.times.size(), parts.offset});
  if (parts.has_offset != had_offset && !candidate.times.empty() && candidate.differs < 0)
    candidate.differs = static_cast<std::int64_t>(candidate.times.size());
  candidate.style = style;
  candidate.digits = std::max(candidate.digits, parts.digits);
  candidate.times.push_back(*time);
  return true;
}

bool TimeDetector::read(Candidate& candidate, std::string_view text) const {
  return candidate.format ? read_date(candidate, text) : read_number(candidate, text);
}

void TimeDetector::see_clock(std::string_view cell) {
  const std::string_view digits = plain_hour(cell);
  if (digits.find_first_not_of("0123456789") == digits.npos)
    clock_digits_ = std::max(clock_digits_, digits.size());
  constexpr std::size_t kMostDigits = 3;
  std::string_view rest = digits;
  if (digits.size() <= kMostDigits)
    last_period_ = std::max(last_period_, take_digits(rest, 1, static_cast<int>(kMostDigits)));
}

/// Appends the start of a numbered period of the day. Returns false if a column has none.
bool TimeDetector::join_period(std::string_view cell) {
  constexpr int kMinutesADay = 1440;
  const bool is_part = last_period_ == 48 || last_period_ == 96 || last_period_ == 288;
  if (!is_part || columns_.size() != 2 || !is_called_period(columns_[1])) return false;
  const int number = take_digits(cell, 1, 3);
  if (number < 1 || !cell.empty()) return false;
  const int minutes = (number - 1) * (kMinutesADay / last_period_);
  const auto two = [&](int value) { return text_of(value < 10 ? "0" : "", value); };
  joined_ += two(minutes / 60) + ":" + two(minutes % 60);
  return true;
}

void TimeDetector::add(std::string_view text) {
  const std::int64_t row = rows_++;
  if (refused_ >= 0) return;
  if (row == 1 && only_.empty()) find_clock_intervals(text);
  if (are_clock_intervals_) {
    text = text.substr(0, clock_interval_of(text).until);
  } else if (row == 0 || are_intervals_) {
    const std::size_t until = end_of_interval(text);
    are_intervals_ = until != text.npos;
    text = text.substr(0, until);
  }
  if (row == 0) first_ = text;
  if (candidates_.size() == 1 && read(candidates_.front(), text)) return;
  const auto end = std::remove_if(candidates_.begin(), candidates_.end(),
                                  [&](Candidate& candidate) { return !read(candidate, text); });
  if (end == candidates_.begin()) {  // none has moved
    refused_ = row;
    text_ = text;
    return;
  }
  candidates_.erase(end, candidates_.end());
  if (row == 0)
    for (Candidate& candidate : candidates_) candidate.times.reserve(expected_);
}

/// Detects that "00:00-01:00" are hours rather than times with a UTC offset, which would change every hour.
void TimeDetector::find_clock_intervals(std::string_view second) {
  const ClockInterval one = clock_interval_of(first_), two = clock_interval_of(second);
  are_clock_intervals_ =
      one.begin >= 0 && two.begin >= 0 && one.end != two.end && one.length() == two.length();
  if (!are_clock_intervals_) return;
  first_.resize(one.until);
  candidates_ = TimeDetector(order_).candidates_;
  std::erase_if(candidates_, [&](Candidate& candidate) { return !read(candidate, first_); });
}

void TimeDetector::add(std::span<const std::string_view> cells) {
  const std::string_view first = cells[0];
  const bool is_year = first.size() == 4 && first.find_first_not_of("0123456789") == first.npos;
  const bool are_parts = cells.size() > 2 || is_year;
  const YearPart part = are_parts && columns_.size() > 1 ? year_part_called(columns_[1]) : YearPart::month;
  const std::size_t clock = part == YearPart::month ? 3 : 2;
  joined_.assign(first);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    std::string_view cell = cells[i];
    joined_ += !are_parts || i == clock ? ' ' : i < clock ? '-' : ':';
    if (i == 1 && part != YearPart::month) {
      const char letter = part == YearPart::week ? 'W' : 'Q';
      if (part != YearPart::day && cell.starts_with(letter)) cell.remove_prefix(1);
      if (part != YearPart::day) joined_ += letter;
      const std::size_t digits = part == YearPart::day ? 3 : part == YearPart::week ? 2 : 1;
      joined_.append(digits - std::min(digits, cell.size()), '0');
    } else if (are_parts && i > clock && cell.size() == 1) {
      joined_ += '0';
    } else if (!are_parts) {
      if (join_period(cell)) continue;
      cell = plain_hour(cell);
      const bool is_packed = clock_digits_ > 2 && cell.find_first_not_of("0123456789") == cell.npos;
      if (is_packed) joined_.append((clock_digits_ + 1) / 2 * 2 - std::min(clock_digits_, cell.size()), '0');
    }
    joined_ += cell;
  }
  add(joined_);
}

// ---- what was found ----

void TimeDetector::refuse_text(const PlaceOfRow& place) const {
  Problem problem{.place = place(refused_), .rule = Rule::syntax, .found = quote(text_, 40)};
  if (!only_.empty()) {
    problem.expected = text_of("a time as ", quote(only_), " writes it, such as ",
                               TimeFormat(only_).write(day_of(2024, 1, 31) * kOneDay + 13 * kOneHour));
  } else if (refused_ == 0) {
    problem.expected = kExample + ", or seconds since 1970";
  } else if (!candidates_.front().format) {
    problem.expected = "a number as in the rows before";
  } else {
    std::vector<std::string> formats;
    for (const Candidate& candidate : candidates_)
      if (candidate.format) formats.push_back(format_of(candidate).text());
    problem.expected = text_of(kExample, ", here as the rows before it are written: ", listed(formats));
  }
  throw InputError(std::move(problem));
}

TimeFormat TimeDetector::format_of(const Candidate& candidate) const {
  if (!only_.empty()) return TimeFormat(only_);
  return TimeFormat(seen_pattern(candidate.format->pattern.text(), candidate.style) +
                    clock_pattern(candidate.style, candidate.digits));
}

std::string_view name_of(DateOrder order) {
  constexpr std::string_view kNames[] = {"auto", "day_first", "month_first"};
  return kNames[static_cast<std::size_t>(order)];
}

DateOrder date_order_of(const TimeFormat& format) {
  std::string text = format.text();
  std::erase_if(text, [](char c) { return c == '-' || c == '/'; });  // of "%-d", and of "%d-%m"
  const auto is_before_year = [&](const char* part) {
    const std::size_t at = text.find(part);
    return at != text.npos && at < std::min(text.find_first_of("YyG"), text.size());
  };
  return is_before_year("%d%m")   ? DateOrder::day_first
         : is_before_year("%m%d") ? DateOrder::month_first
                                  : DateOrder::automatic;
}

TimeDetector::Candidate& TimeDetector::choose(const PlaceOfRow& place) {
  const auto dates =
      std::ranges::find_if(candidates_, [](const Candidate& c) { return c.format != nullptr; });
  if (dates == candidates_.end()) return candidates_.front();
  const bool is_week = columns_.size() == 1 && year_part_called(columns_[0]) == YearPart::week;
  const auto is_of_weeks = [](const Candidate& c) { return c.format && c.format->pattern.text() == "%G%V"; };
  if (is_week)
    if (const auto weeks = std::ranges::find_if(candidates_, is_of_weeks); weeks != candidates_.end())
      return *weeks;
  const auto is_in_order = [](const Candidate& c) {
    return c.format && c.times.size() > 1 &&
           std::ranges::adjacent_find(c.times, std::greater_equal()) == c.times.end();
  };
  if (!dates->format->is_rare && std::ranges::none_of(dates, candidates_.end(), [&](const Candidate& c) {
        return !c.format->is_rare && is_in_order(c);
      }))
    if (const auto rare = std::find_if(dates, candidates_.end(), is_in_order); rare != candidates_.end())
      return *rare;
  for (auto other = dates + 1; other != candidates_.end(); ++other) {
    if ((other->format->is_rare && !dates->format->is_rare) || is_of_weeks(*other)) continue;
    const auto [a, b] = std::ranges::mismatch(dates->times, other->times);
    if (a == dates->times.end()) continue;
    if (order_ != DateOrder::automatic) return date_order_of(format_of(*dates)) == order_ ? *dates : *other;
    const bool is_even = are_without_gap(dates->times), is_other_even = are_without_gap(other->times);
    if (is_even != is_other_even) return is_even ? *dates : *other;
    const auto row = static_cast<std::size_t>(a - dates->times.begin());
    const TimeFormat date("%d %B %Y");
    throw InputError(Problem{
        .place = place(static_cast<std::int64_t>(row)),
        .rule = Rule::conflict,
        .statement = text_of("this may be ", quote(date.write(*a)), ", by ", quote(format_of(*dates).text()),
                             ", or ", quote(date.write(*b)), ", by ", quote(format_of(*other).text()),
                             ", and no row has a day above 12, which would decide")});
  }
  return *dates;
}

TimeColumn TimeDetector::numbers_of(Candidate& candidate, const PlaceOfRow& place) const {
  const auto count = only_.empty() ? plausible_count(candidate.lowest, candidate.highest,
                                                     columns_.empty() ? "" : columns_[0])
                                   : count_named(only_);
  if (!count) {
    throw InputError(
        Problem{.place = place(0),
                .rule = Rule::out_of_range,
                .statement = text_of("these numbers are not times between 1900 and 2100. They look like ",
                                     look_of(candidate.times, candidate.fractions)),
                .hint = text_of("Formats of numbers are ", listed(names_of_counts()), ".")});
  }
  for (std::size_t row = 0; row < candidate.times.size(); ++row) {
    const double fraction = candidate.fractions.empty() ? 0.0 : candidate.fractions[row];
    const auto time = instant_of(*count, candidate.times[row], fraction, candidate.digits);
    if (!time)
      throw InputError(Problem{
          .place = place(static_cast<std::int64_t>(row)),
          .rule = Rule::out_of_range,
          .found = text_of(candidate.times[row]),
          .expected = text_of(name_of(*count), " between the years ", kFirstYear, " and ", kLastYear)});
    candidate.times[row] = *time;
  }
  return {.format = TimeFormat(name_of(*count)), .times = std::move(candidate.times)};
}

TimeColumn TimeDetector::finish(const PlaceOfRow& place) {
  if (rows_ == 0) return {};
  if (refused_ >= 0) refuse_text(place);
  Candidate& candidate = choose(place);
  if (!candidate.format) return numbers_of(candidate, place);
  if (candidate.differs >= 0)
    throw InputError(Problem{
        .place = place(candidate.differs),
        .rule = Rule::conflict,
        .statement = "some times have an offset from UTC and some have none: this row and the first one "
                     "differ"});
  if (candidate.format->pattern.text().find("%y") != std::string::npos) put_in_century(candidate.times);
  TimeColumn column{.format = format_of(candidate), .times = std::move(candidate.times)};
  if (candidate.offsets.size() == 1) column.zone = TimeZone::fixed(candidate.offsets[0].offset);
  if (candidate.offsets.size() < 2) return column;
  if (auto zone = zone_of_offsets(column.times, candidate.offsets)) {
    column.zone = *std::move(zone);
  } else {
    column.has_several_offsets = true;
  }
  return column;
}

}  // namespace lagtape
