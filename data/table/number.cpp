#include "lagtape/data/table/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace lagtape {

template <class T>
std::optional<T> parse_number(std::string_view text, char decimal) {
  if (decimal != '.') {
    if (text.find('.') != text.npos) return {};
    std::string with_point(text);
    std::ranges::replace(with_point, decimal, '.');
    return parse_number<T>(with_point);
  }
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return {};
  return error == std::errc() ? value : std::numeric_limits<T>::quiet_NaN();
}

template std::optional<float> parse_number(std::string_view, char);
template std::optional<double> parse_number(std::string_view, char);

bool has_thousands(std::string_view text, char decimal) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == decimal || std::string_view(",. '").find(c) == std::string_view::npos) {
      plain += c;
      continue;
    }
    const std::string_view group = text.substr(i + 1, 4);  // three digits, and what follows them
    const auto digits = std::ranges::find_if_not(group, is_digit) - group.begin();
    if (plain.empty() || digits != 3) return false;
  }
  return plain.size() < text.size() && parse_number(plain, decimal);
}

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 11> kWords = {"",     "na", "n/a", "#n/a", "nan", "null",
                                                       "none", "-",  "--",  "?",    "."};
  std::string lower(cell);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::ranges::find(kWords, lower) != kWords.end();
}

}  // namespace lagtape
