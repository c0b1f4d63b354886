#include "lagtape/data/time/clock_text.h"

#include <algorithm>

#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

namespace {

/// Removes hours and minutes, and possibly seconds.
bool take_hours(std::string_view& text, TimeParts& parts, std::uint32_t& style) {
  const std::size_t end =
      text.size() > 2 && text[2] == ':' ? 2 : std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == 4 || end == 6) {
    style |= kPacked | kMinutes | (end == 6 ? kSeconds : 0u);
    parts.hour = take_digits(text, 2, 2);
    parts.minute = take_digits(text, 2, 2);
    if (end == 6) parts.second = take_digits(text, 2, 2);
    return true;
  }
  if (end == 0 || end > 2) return false;
  if (end == 1) style |= kOneDigitHour;
  parts.hour = end == 2 ? two_digits(text.data()) : text[0] - '0';
  text.remove_prefix(end);
  const char between = text.empty() ? '\0' : text.front();
  if (between != ':' && between != '.') return true;
  style |= kMinutes | (between == '.' ? kPoints : 0u);
  if (parts.hour < 0 || text.size() < 3 || (parts.minute = two_digits(text.data() + 1)) < 0) return false;
  text.remove_prefix(3);
  if (text.empty() || text.front() != between) return true;
  style |= kSeconds;
  if (text.size() < 3 || (parts.second = two_digits(text.data() + 1)) < 0) return false;
  text.remove_prefix(3);
  return true;
}

/// Removes a time of day with fractional seconds.
bool take_clock(std::string_view& text, TimeParts& parts, std::uint32_t& style) {
  if (!take_hours(text, parts, style)) return false;
  if (text.empty()) return true;
  if (!text.starts_with('.') && !text.starts_with(',')) return true;
  if (text.front() == ',') style |= kComma;
  text.remove_prefix(1);
  return take_fraction(text, parts);
}

}  // namespace

bool read_clock(std::string_view text, TimeParts& parts, std::uint32_t& style) {
  style |= kWithClock;
  if (take_character(text, 'T') || take_character(text, 't')) {
    style |= kLetterT;
  } else if (take_character(text, ':')) {
    style |= kColonBefore;
  } else if (take_character(text, '_')) {
    style |= kUnderscore;
  } else {
    take_character(text, ',');
    if (!take_blanks(text)) return false;
  }
  if (!take_clock(text, parts, style)) return false;
  if (text.empty() || text == " Uhr") return true;
  const bool has_blank = take_blanks(text);
  if (take_half(text, parts, style)) {
    if (!has_blank) style |= kNoBlankHalf;
    take_blanks(text);
    if (text.empty()) return true;
  }
  if (has_blank && (style & kHalfDays) == 0) style |= kOffsetBlank;
  return take_offset(text, parts, style) && text.empty();
}

std::string clock_pattern(std::uint32_t style, int digits) {
  if ((style & kWithClock) == 0) return "";
  const auto has = [&](std::uint32_t bits) { return (style & bits) != 0; };
  const std::string between = has(kPacked) ? "" : has(kPoints) ? "." : ":";
  std::string text = has(kLetterT) ? "T" : has(kColonBefore) ? ":" : has(kUnderscore) ? "_" : " ";
  text += has(kOneDigitHour) ? "%-" : "%";
  text += has(kHalfDays) ? "I" : "H";
  if (has(kMinutes)) text += between + "%M";
  if (has(kSeconds)) text += between + "%S";
  if (digits > 0) text += (has(kComma) ? ",%" : ".%") + std::to_string(digits) + "f";
  if (has(kHalfDays)) text += std::string(has(kNoBlankHalf) ? "" : " ") + (has(kSmallHalf) ? "%-p" : "%p");
  if (has(kOffsetBlank)) text += " ";
  if (has(kOffsetColon)) return text + "%:z";
  if (has(kOffsetPlain)) return text + "%z";
  if (has(kOffsetHours)) return text + "%-z";
  if (has(kZulu)) return text + "%-Z";
  return text + (has(kUtcWord) ? "%Z" : has(kGmtWord) ? "%^Z" : "");
}

}  // namespace lagtape
