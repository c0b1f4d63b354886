#include "lagtape/data/time/time_parts.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/text.h"
#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

namespace {

/// Words for the clocks of Europe, North America, Japan and Australia, and their hours ahead of UTC. They do
/// not include "IST" and "CST" for other places.
constexpr std::pair<std::string_view, int> kClockWords[] = {
    {"CET", 1},  {"CEST", 2}, {"MEZ", 1},  {"MESZ", 2}, {"WET", 0},  {"WEST", 1},  {"BST", 1},
    {"EET", 2},  {"EEST", 3}, {"MSK", 3},  {"EST", -5}, {"EDT", -4}, {"CST", -6},  {"CDT", -5},
    {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7}, {"JST", 9},  {"AEST", 10}, {"AEDT", 11}};

}  // namespace

std::optional<Instant> TimeParts::instant() const {
  if (year < kFirstYear || year > kLastYear) return {};
  if (day > 28 && day > days_in_month(year, month)) return {};
  if (day_of_year == 366 && days_in_month(year, 2) == 28) return {};
  std::int64_t days = day_of_year > 0 ? day_of(year, 1, day_of_year) : day_of(year, month, day);
  if (week > 0) {  // the first week contains January 4
    const std::int64_t fourth = day_of(year, 1, 4), monday = fourth - weekday_of(fourth) + 7 * (week - 1);
    if (static_cast<int>(date_of(monday + 3).year()) != year) return {};
    days = monday + weekday - 1;
  }
  if (half >= 0 && (hour < 1 || hour > 12)) return {};
  const int whole_hour = half < 0 ? hour : hour % 12 + half;
  // A day may end at 24:00, and a leap second is the first second of the next minute.
  const bool is_end = whole_hour == 24 && minute == 0 && second == 0 && nanosecond == 0;
  if ((whole_hour > 23 && !is_end) || minute > 59 || second > 60) return {};
  return (((days * 24 + whole_hour) * 60 + minute) * 60 + second - offset) * kOneSecond + nanosecond;
}

std::optional<ReadTime> TimeParts::read(bool is_date) const {
  const auto time = instant();
  if (!time) return {};
  return ReadTime{
      .time = *time, .offset = has_offset ? std::optional(offset) : std::nullopt, .is_date = is_date};
}

std::string offset_text(std::int64_t seconds, std::string_view between) {
  const std::int64_t minutes = (seconds < 0 ? -seconds : seconds) / 60;
  const auto two = [](std::int64_t value) { return text_of(value < 10 ? "0" : "", value); };
  return text_of(seconds < 0 ? "-" : "+", two(minutes / 60), between, two(minutes % 60));
}

bool take_fraction(std::string_view& text, TimeParts& parts) {
  int count = 0, scale = 100'000'000;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9';
       ++count, text.remove_prefix(1), scale /= 10)
    parts.nanosecond += scale * (text.front() - '0');
  parts.digits = std::min(count, 9);
  return count > 0;
}

bool take_half(std::string_view& text, TimeParts& parts, std::uint32_t& style) {
  if (text.empty()) return false;
  std::string_view rest = text;
  const char half = small_letter(rest.front());
  if (half != 'a' && half != 'p') return false;
  rest.remove_prefix(1);
  const bool has_points = take_character(rest, '.');
  if (has_points && !take_blanks(rest) && rest.starts_with("\xC2\xA0")) rest.remove_prefix(2);
  if (!begins_with_word(rest, "m")) return false;
  rest.remove_prefix(1);
  if (has_points) take_character(rest, '.');
  style |= kHalfDays | (text.front() >= 'a' ? kSmallHalf : 0u);
  parts.half = half == 'p' ? 12 : 0;
  text = rest;
  return true;
}

bool take_offset(std::string_view& text, TimeParts& parts, std::uint32_t& style) {
  parts.has_offset = true;
  if (text.starts_with('Z') || text.starts_with('z')) {
    style |= kZulu;
    text.remove_prefix(1);
    return true;
  }
  if (begins_with_word(text, "utc") || begins_with_word(text, "gmt")) {
    style |= small_letter(text.front()) == 'u' ? kUtcWord : kGmtWord;
    text.remove_prefix(3);
    return true;
  }
  for (const auto& [word, hours] : kClockWords)
    if (text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ')) {
      parts.offset = std::int64_t{3600} * hours;
      style |= kOffsetColon;
      text.remove_prefix(word.size());
      return true;
    }
  const bool is_behind = text.starts_with('-');
  if (!is_behind && !text.starts_with('+')) return false;
  text.remove_prefix(1);
  const int hours = take_digits(text, 2, 2);
  if (hours < 0 || hours > 23) return false;
  int minutes = 0;
  if (take_character(text, ':')) {
    minutes = take_digits(text, 2, 2);
    style |= kOffsetColon;
  } else if (!text.empty()) {
    minutes = take_digits(text, 2, 2);
    style |= kOffsetPlain;
  } else {
    style |= kOffsetHours;
  }
  if (minutes < 0 || minutes > 59) return false;
  const int ahead = (is_behind ? -1 : 1) * (hours * 60 + minutes);
  parts.offset = std::int64_t{60} * ahead;
  return ahead >= -12 * 60 && ahead <= 14 * 60;
}

}  // namespace lagtape
