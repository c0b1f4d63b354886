#include "lagtape/data/time/time_pattern.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/date_words.h"
#include "lagtape/data/time/text_cursor.h"

namespace lagtape {

namespace {

constexpr std::string_view kLetters = "YymdHIMSfjqGVu";  // of digits
constexpr std::string_view kWords = "pbBhaAzZ";

bool is_digits(char letter) { return letter != 0 && kLetters.find(letter) != kLetters.npos; }

/// Removes the word for a month or a weekday. Returns false for any other word.
bool take_word(std::string_view& text, const DateWord& word, std::uint32_t& style) {
  if (word.number < 0) return false;
  if (word.is_long) style |= kLongMonth;
  if (text[1] >= 'A' && text[1] <= 'Z') style |= kCapitals;
  text.remove_prefix(word.length);
  return true;
}

std::string name_written(std::string_view name, bool is_long, bool in_capitals) {
  std::string text(is_long ? name : name.substr(0, 3));
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 0 || in_capitals) text[i] = static_cast<char>(text[i] - 'a' + 'A');
  return text;
}

std::string padded(std::int64_t value, int digits) {
  std::string text = std::to_string(value);
  if (std::ssize(text) < digits) text.insert(0, static_cast<std::size_t>(digits) - text.size(), '0');
  return text;
}

}  // namespace

TimePattern::TimePattern(std::string_view text) : text_(text) {
  compile(text);
  const auto has = [&](std::string_view letters) {
    return std::ranges::any_of(
        fields_, [&](const Field& f) { return f.letter && letters.find(f.letter) != letters.npos; });
  };
  if (!has("YyG"))
    throw InputError(Problem{.rule = Rule::missing,
                             .statement = "a format of times has a year",
                             .found = quote(text),
                             .expected = "%Y or %y in it, as in %Y-%m-%d"});
  if (has("G") != has("V"))
    throw InputError(Problem{.rule = Rule::missing,
                             .statement = "%G, the year of a week, and %V, its number, go together",
                             .found = quote(text),
                             .expected = "both of them, as in %G-W%V"});
  has_clock_ = has("HIMSf");
  has_offset_ = has("zZ");
  writes_utc_ = has("Z");
  // Adjacent numbers have a fixed number of digits.
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const bool is_beside = (i > 0 && is_digits(fields_[i - 1].letter)) ||
                           (i + 1 < fields_.size() && is_digits(fields_[i + 1].letter));
    if (is_beside && fields_[i].letter != 'f') fields_[i].least = fields_[i].most;
  }
  find_layout();
}

void TimePattern::compile(std::string_view text) {
  while (!text.empty()) {
    const std::string_view whole = text;
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '%') {
      fields_.push_back({.literal = c == '\t' ? ' ' : c});
      continue;
    }
    char flag = 0;
    if (!text.empty() && std::string_view("-^:123456789").find(text.front()) != std::string_view::npos) {
      flag = text.front();
      text.remove_prefix(1);
    }
    const char letter = text.empty() ? '\0' : text.front();
    if (!text.empty()) text.remove_prefix(1);
    switch (letter) {
      case 'F': compile("%Y-%m-%d"); break;
      case 'T': compile("%H:%M:%S"); break;
      case 'R': compile("%H:%M"); break;
      case 'D': compile("%m/%d/%y"); break;
      case 'e': fields_.push_back({.letter = 'd', .flag = '-'}); break;
      case '%': fields_.push_back({.literal = '%'}); break;
      case 'G':
      case 'Y': fields_.push_back({.letter = letter, .flag = flag, .least = 4, .most = 4}); break;
      case 'y': fields_.push_back({.letter = letter, .flag = flag, .least = 2, .most = 2}); break;
      case 'j':
        fields_.push_back({.letter = letter, .flag = flag, .least = flag == '3' ? 3 : 1, .most = 3});
        break;
      case 'u':
      case 'q': fields_.push_back({.letter = letter, .flag = flag, .least = 1, .most = 1}); break;
      default:
        if (letter == 0 || (kLetters.find(letter) == kLetters.npos && kWords.find(letter) == kWords.npos))
          throw InputError(Problem{.rule = Rule::unknown_name,
                                   .statement = "letter of times",
                                   .found = std::string(whole.substr(0, whole.size() - text.size())),
                                   .expected =
                                       "%Y, %y, %m, %d, %H, %I, %M, %S, %f, %p, %b, %B, %a, %A, %j, %q, %z, "
                                       "%G, %V, %u, %Z, %F, %T, %R, %D, %e"});
        fields_.push_back({.letter = letter, .flag = flag});
    }
  }
}

bool TimePattern::read_field(const Field& field, std::string_view& text, TimeParts& parts,
                             std::uint32_t& style) {
  const auto digits = [&](int& value, int lowest, int highest, std::uint32_t one_digit) {
    const std::size_t before = text.size();
    value = take_digits(text, field.least, field.most);
    if (before - text.size() == 1) style |= one_digit;
    return value >= lowest && value <= highest;
  };
  int value = 0;
  switch (field.letter) {
    case 0:
      if (field.literal == ' ') return take_blanks(text);
      return take_character(text, field.literal);
    case 'G':
    case 'Y': return digits(parts.year, 0, 9999, 0);
    case 'V': return digits(parts.week, 1, 53, kOneDigit);
    case 'u': return digits(parts.weekday, 1, 7, 0);
    case 'y':
      if (!digits(value, 0, 99, 0)) return false;
      parts.year = value < 69 ? 2000 + value : 1900 + value;
      return true;
    case 'm': return digits(parts.month, 1, 12, kOneDigit);
    case 'd':
      if (text.starts_with(' ')) take_blanks(text);
      return digits(parts.day, 1, 31, kOneDigit);
    case 'q':
      parts.month = 3 * (take_digits(text, 1, 1) - 1) + 1;
      return parts.month >= 1 && parts.month <= 10;
    case 'j': return digits(parts.day_of_year, 1, 366, 0);
    case 'H': return digits(parts.hour, 0, 24, kOneDigitHour);
    case 'I': return digits(parts.hour, 1, 12, kOneDigitHour);
    case 'M': return digits(parts.minute, 0, 59, 0);
    case 'S': return digits(parts.second, 0, 60, 0);
    case 'f': return take_fraction(text, parts);
    case 'p': return take_half(text, parts, style);
    case 'b':
    case 'B':
    case 'h': {
      const DateWord month = month_at(text);
      parts.month = month.number + 1;
      return take_word(text, month, style);
    }
    case 'a':
    case 'A': {
      const DateWord day = weekday_at(text);
      if (day.is_sure) parts.named_weekday = day.number;
      return take_word(text, day, style);
    }
    default: return take_offset(text, parts, style);
  }
}

void TimePattern::find_layout() {
  Layout layout;
  std::string letters;
  for (const auto& [letter, literal, flag, least, most] : fields_) {
    letters += letter == 0 ? '-' : letter;
    if (letter == 'Y') layout.year = layout.width;
    if (letter == 'm') layout.month = layout.width;
    if (letter == 'd') layout.day = layout.width;
    if (letter == 0) {
      if (literal == ' ' || (layout.between != 0 && layout.between != literal)) return;
      (layout.between == 0 ? layout.first : layout.second) = layout.width;
      layout.between = literal;
    }
    layout.width += letter == 0 ? 1 : letter == 'Y' ? 4 : 2;
  }
  for (const char* dates : {"Y-m-d", "d-m-Y", "m-d-Y", "Ymd"})
    if (letters == dates) layout_ = layout;
}

/// Removes a date with two-digit day and month. Other texts are read field by field.
bool TimePattern::read_layout(std::string_view& text, TimeParts& parts) const {
  if (layout_.width == 0 || text.size() < layout_.width) return false;
  const char* const t = text.data();
  if (layout_.between != 0 && (t[layout_.first] != layout_.between || t[layout_.second] != layout_.between))
    return false;
  const int century = two_digits(t + layout_.year), year = two_digits(t + layout_.year + 2);
  parts.month = two_digits(t + layout_.month);
  parts.day = two_digits(t + layout_.day);
  if (century < 0 || year < 0 || parts.month < 1 || parts.month > 12 || parts.day < 1) return false;
  parts.year = 100 * century + year;
  text.remove_prefix(layout_.width);
  return true;
}

bool TimePattern::read(std::string_view& text, TimeParts& parts, std::uint32_t& style) const {
  if (read_layout(text, parts)) return true;
  return std::ranges::all_of(fields_,
                             [&](const Field& field) { return read_field(field, text, parts, style); });
}

std::string TimePattern::write(Instant local, std::int64_t offset) const {
  const std::int64_t days = floor_div(local, kOneDay), rest = local - days * kOneDay;
  const auto date = date_of(days);
  const int year = static_cast<int>(date.year());
  const std::int64_t thursday = days - weekday_of(days) + 3;
  const int year_of_week = static_cast<int>(date_of(thursday).year());
  const auto month = static_cast<unsigned>(date.month()), day = static_cast<unsigned>(date.day());
  const std::int64_t hour = rest / kOneHour;
  std::string text;
  for (const auto& [letter, literal, flag, least, most] : fields_) {
    const int width = flag == '-' ? 1 : 2;
    switch (letter) {
      case 0: text += literal; break;
      case 'Y': text += padded(year, 4); break;
      case 'y': text += padded(year % 100, 2); break;
      case 'm': text += padded(month, width); break;
      case 'd': text += padded(day, width); break;
      case 'q': text += padded((month + 2) / 3, 1); break;
      case 'G': text += padded(year_of_week, 4); break;
      case 'V': text += padded((thursday - day_of(year_of_week, 1, 1)) / 7 + 1, width); break;
      case 'u': text += padded(weekday_of(days) + 1, 1); break;
      case 'j': text += padded(days - day_of(year, 1, 1) + 1, 3); break;
      case 'H': text += padded(hour, width); break;
      case 'I': text += padded((hour + 11) % 12 + 1, width); break;
      case 'M': text += padded(rest / kOneMinute % 60, 2); break;
      case 'S': text += padded(rest / kOneSecond % 60, 2); break;
      case 'f': {
        const std::size_t digits = flag >= '1' && flag <= '9' ? static_cast<std::size_t>(flag - '0') : 9;
        text += padded(rest % kOneSecond, 9).substr(0, digits);
        break;
      }
      case 'p': text += hour < 12 ? (flag == '-' ? "am" : "AM") : (flag == '-' ? "pm" : "PM"); break;
      case 'b':
      case 'h': text += name_written(kMonths[month - 1], false, flag == '^'); break;
      case 'B': text += name_written(kMonths[month - 1], true, flag == '^'); break;
      case 'a':
      case 'A':
        text +=
            name_written(kWeekdays[static_cast<std::size_t>(weekday_of(days))], letter == 'A', flag == '^');
        break;
      case 'Z': text += flag == '^' ? "GMT" : flag == '-' ? "Z" : "UTC"; break;
      default: {
        const std::string whole = offset_text(offset, flag == ':' ? ":" : "");
        text += flag == '-' ? whole.substr(0, 3) : whole;
      }
    }
  }
  return text;
}

}  // namespace lagtape
