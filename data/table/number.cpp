#include "lagtape/data/table/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include "lagtape/core/text.h"

namespace lagtape {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number of bytes of a blank at the start of a text, including U+00A0 (two) and U+202F (three); 0 if there
/// is none.
std::size_t blank_at(std::string_view text) {
  if (text.starts_with(' ')) return 1;
  if (text.starts_with("\xC2\xA0")) return 2;
  return text.starts_with("\xE2\x80\xAF") ? 3 : 0;
}

/// The number of bytes of a thousands separator at the start of a text.
std::size_t separator_at(std::string_view text, char thousands) {
  if (thousands == ' ') return blank_at(text);
  if (thousands == '\'' && text.starts_with("\xE2\x80\x99")) return 3;  // U+2019
  return text.starts_with(thousands) ? 1 : 0;
}

/// The value of plain digits with a decimal point, as in most tables: at most 15 digits and a power of ten that
/// are exact, so their quotient is rounded once (Clinger 1990). Empty for other texts, whether numbers or not.
std::optional<double> plain_decimal(std::string_view text, char decimal) {
  constexpr std::array<double, 16> kPowers = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const auto is_negative =
      static_cast<std::ptrdiff_t>(text.starts_with('-'));  // branch-free, because signs are unpredictable
  const char *at = text.data() + is_negative, *const end = text.data() + text.size();
  if (end - at > static_cast<std::ptrdiff_t>(kPowers.size())) return {};
  std::int64_t digits = 0;
  const char* const first = at;
  while (at != end && is_digit(*at)) digits = 10 * digits + (*at++ - '0');
  std::ptrdiff_t count = at - first, fraction = 0;
  if (at != end && *at == decimal) {
    const char* const point = ++at;
    while (at != end && is_digit(*at)) digits = 10 * digits + (*at++ - '0');
    fraction = at - point;
    count += fraction;
  }
  if (at != end || count == 0 || count >= static_cast<std::ptrdiff_t>(kPowers.size())) return {};
  return static_cast<double>(digits) / kPowers[static_cast<std::size_t>(fraction)] *
         static_cast<double>(1 - 2 * is_negative);
}

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

template <class T>
std::optional<T> parse_number(std::string_view text, char decimal) {
  if constexpr (std::same_as<T, double>)
    if (const std::optional<double> plain = plain_decimal(text, decimal)) return plain;
  if (decimal != '.') {
    if (text.find('.') != text.npos) return {};
    std::string with_point(text);
    std::ranges::replace(with_point, decimal, '.');
    return parse_number<T>(with_point);
  }
  if (text.starts_with(kMinusSign))
    return parse_number<T>(text_of('-', text.substr(kMinusSign.size())), decimal);
  if (text.size() > 2 && text.front() == '(' && text.back() == ')' && is_digit(text[1]))
    return parse_number<T>(text_of('-', text.substr(1, text.size() - 2)), decimal);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return {};
  return error == std::errc() ? value : std::numeric_limits<T>::quiet_NaN();
}

template std::optional<float> parse_number(std::string_view, char);
template std::optional<double> parse_number(std::string_view, char);

std::optional<std::string> without_thousands(std::string_view text, char thousands, char decimal) {
  if (text.size() > 2 && text.front() == '(' && text.back() == ')' && is_digit(text[1]))
    return without_thousands(text_of('-', text.substr(1, text.size() - 2)), thousands, decimal);
  std::string plain;
  std::size_t digits = 0;  // of the group
  bool is_grouped = false;
  const auto is_whole = [&] { return digits == 3 || (!is_grouped && digits > 0 && digits < 4); };
  if (text.starts_with('-') || text.starts_with('+')) {
    plain += text.front();
    text.remove_prefix(1);
  } else if (text.starts_with(kMinusSign)) {
    plain += '-';
    text.remove_prefix(kMinusSign.size());
  }
  while (!text.empty() && text.front() != decimal) {
    if (const std::size_t bytes = separator_at(text, thousands); bytes > 0) {
      if (!is_whole()) return {};
      is_grouped = true;
      digits = 0;
      text.remove_prefix(bytes);
      continue;
    }
    if (!is_digit(text.front())) return {};
    if (plain.ends_with('0') && plain.find_first_of("123456789") == plain.npos)
      return {};  // 0,123 and 00,100
    plain += text.front();
    ++digits;
    text.remove_prefix(1);
  }
  if (!is_grouped || digits != 3) return {};
  plain += text;
  return plain;
}

bool has_thousands(std::string_view text, char decimal) {
  for (const char thousands : {',', '.', ' ', '\''}) {
    if (thousands == decimal) continue;
    const std::optional<std::string> plain = without_thousands(text, thousands, decimal);
    if (plain && parse_number(*plain, decimal)) return true;
  }
  return false;
}

bool is_missing(std::string_view cell) {
  constexpr std::size_t kLongest = 12;
  constexpr std::array<std::string_view, 38> kWords = {
      "",         "na",        "n/a",   "#n/a",    "#na",     "nan",        "-nan",   "+nan",
      "<na>",     "nat",       "null",  "(null)",  "#null!",  "\\n",        "none",   "nil",
      "-",        "--",        "---",   "?",       ".",       "..",         "...",    "#div/0!",
      "#value!",  "#ref!",     "#num!", "#name?",  "1.#qnan", "-1.#qnan",   "1.#ind", "-1.#ind",
      "nan(ind)", "-nan(ind)", "n.a.",  "missing", "unknown", "unavailable"};
  if (cell.size() > kLongest) return false;
  std::array<char, kLongest> lower;
  std::ranges::transform(cell, lower.begin(), small);
  return std::ranges::find(kWords, std::string_view(lower.data(), cell.size())) != kWords.end();
}

}  // namespace lagtape
