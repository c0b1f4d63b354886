#pragma once

#include <array>
#include <string_view>

namespace lagtape {

/// Removes the leading digits from a text, at least `least` and at most `most`. Returns their value, or -1 if
/// there are fewer.
inline int take_digits(std::string_view& text, int least, int most) {
  int value = 0, count = 0;
  const int end = most < static_cast<int>(text.size()) ? most : static_cast<int>(text.size());
  while (count < end) {
    const auto digit = static_cast<unsigned>(text[static_cast<std::size_t>(count)]) - '0';
    if (digit > 9) break;
    value = 10 * value + static_cast<int>(digit);
    ++count;
  }
  if (count < least) return -1;
  text.remove_prefix(static_cast<std::size_t>(count));
  return value;
}

/// The two-digit number at a position, negative if there is none.
inline int two_digits(const char* text) {
  const unsigned a = static_cast<unsigned char>(text[0]) - '0', b = static_cast<unsigned char>(text[1]) - '0';
  return a <= 9 && b <= 9 ? static_cast<int>(10 * a + b) : -1;
}

inline bool take_character(std::string_view& text, char character) {
  if (text.empty() || text.front() != character) return false;
  text.remove_prefix(1);
  return true;
}

inline bool take_blanks(std::string_view& text) {
  const std::size_t end = text.find_first_not_of(" \t");
  const std::size_t count = end == text.npos ? text.size() : end;
  text.remove_prefix(count);
  return count > 0;
}

inline char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether a text starts with a word, given in lowercase, ignoring case.
inline bool begins_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (small_letter(text[i]) != word[i]) return false;
  return true;
}

inline constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                             "may",       "june",     "july",     "august",
                                                             "september", "october",  "november", "december"};
inline constexpr std::array<std::string_view, 7> kWeekdays = {"monday", "tuesday",  "wednesday", "thursday",
                                                              "friday", "saturday", "sunday"};

}  // namespace lagtape
