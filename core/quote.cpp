#include "lagtape/core/quote.h"

#include <algorithm>

#include "lagtape/core/text.h"

namespace lagtape {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

std::string escaped(unsigned char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

/// A UTF-8 character and its number of bytes; a length of 0 means invalid bytes.
struct Character {
  char32_t code;
  std::size_t length;
};

/// The character that a text (of at least one byte) starts with: the ranges of RFC 3629, section 4, so that
/// neither surrogates nor overlong forms pass.
Character character_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {0, 0};
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return {0, 0};
  char32_t code = first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {code, length};
}

/// Whether a non-ASCII character can affect a terminal.
bool is_control(char32_t code) { return code >= 0x7F && code < 0xA0; }

/// Whether a character changes the writing direction, ends a line in some programs, or marks byte order.
bool is_of_layout(char32_t code) {
  return code == 0xFEFF || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, bool keeps_lines) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = character_of(text);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (length > 0 && code == '\n' && keeps_lines) {
      out += '\n';
    } else if (length == 0 || code < 0x20) {
      out += escaped(static_cast<unsigned char>(text.front()));
    } else if (is_control(code) || is_of_layout(code)) {
      out += "\\u";
      for (const int shift : {12, 8, 4, 0}) out += kDigits[code >> shift & 15];
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return printable(text);
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) --longest;
  return printable(text.substr(0, longest)) + "...";
}

std::string quote(std::string_view text, std::size_t longest) {
  return text_of('\'', shortened(text, longest), '\'');
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    list += text_of(i > 0 ? ", " : "", shortened(names[i]));
  if (names.size() > most) list += text_of(" and ", names.size() - most, " more");
  return list;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_of(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::u32string code_points(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const auto [code, length] = character_of(text);
    characters += length > 0 ? code : static_cast<unsigned char>(text.front());
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return characters;
}

}  // namespace lagtape
