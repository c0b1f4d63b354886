#include "lagtape/core/json/json_slips.h"

#include <algorithm>
#include <cstdint>

namespace lagtape {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

/// The start of the token whose last character read is at `offset`.
std::size_t begin_of_token(std::string_view text, std::size_t offset) {
  if (text[offset] == '"') {
    std::size_t quote = offset;
    while (quote > 0) {
      quote = text.rfind('"', quote - 1);
      if (quote == text.npos) return offset;
      if (quote == 0 || text[quote - 1] != '\\') return quote;
    }
    return offset;
  }
  while (offset > 0 && is_word(text[offset - 1]) && is_word(text[offset])) --offset;
  return offset;
}

struct Sign {
  std::string_view begin, sentence;
};

constexpr Sign kSigns[] = {
    {"'", "Texts are in double quotes; json.dumps turns Python's dict into JSON."},
    {"True", "Python's True is true in JSON."},
    {"False", "Python's False is false in JSON."},
    {"None", "Python's None is null in JSON."},
    {"nan", "JSON has no nan; leave the key out, or write null."},
    {"NaN", "JSON has no NaN; leave the key out, or write null."},
    {"inf", "JSON has no infinity."},
    {"#", "Comments begin with // here."},
    {"=", "A key and its value are joined by a colon, as in \"lr\": 0.01."},
    {"(", "Python's tuple is a list in JSON: [1, 2]."},
    {"\xE2\x80\x9C", "This quotation mark is a typographic one; JSON has \"."},
    {"\xE2\x80\x9D", "This quotation mark is a typographic one; JSON has \"."},
    {"\xE2\x80\x9E", "This quotation mark is a typographic one; JSON has \"."},
    {"\xE2\x80\x98", "This quotation mark is a typographic one; JSON has \"."},
    {"\xE2\x80\x99", "This quotation mark is a typographic one; JSON has \"."},
    {"\xC2\xAB", "This quotation mark is a typographic one; JSON has \"."},
};

/// The language that the whole text seems to be in, judging by its first line that is not a comment.
std::string language_of(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty() || line.starts_with("#")) continue;
    std::size_t word = 0;
    while (word < line.size() && is_word(line[word])) ++word;
    const std::string_view after = line.substr(std::min(line.find_first_not_of(" \t", word), line.size()));
    if (line.starts_with("---") || (word > 0 && after.starts_with(":")) || line.starts_with("- "))
      return "This looks like YAML; an experiment is JSON, {\"name\": ...}.";
    const bool section = line.starts_with("[") && line.size() > 2 && is_word(line[1]) &&
                         (line[1] < '0' || line[1] > '9') && line.find("]") != line.npos &&
                         line.find_first_of(",\"") == line.npos;
    if ((word > 0 && after.starts_with("=")) || section)
      return "This looks like TOML; an experiment is JSON, {\"name\": ...}.";
    return {};
  }
  return {};
}

/// Whether an object or a list is open at the end of a text.
bool is_inside(std::string_view text) {
  std::int64_t open = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && in_text)
      ++i;
    else if (text[i] == '"')
      in_text = !in_text;
    else if (!in_text && (text[i] == '{' || text[i] == '['))
      ++open;
    else if (!in_text && (text[i] == '}' || text[i] == ']'))
      --open;
  }
  return open > 0;
}

}  // namespace

std::string slip_in_json(std::string_view text, std::size_t offset, bool key) {
  if (const std::string language = language_of(text); !language.empty()) return language;
  if (offset >= text.size()) return {};
  const std::size_t begin = begin_of_token(text, offset);
  const std::string_view token = text.substr(begin);
  for (const Sign& sign : kSigns)
    if (token.starts_with(sign.begin)) return std::string(sign.sentence);
  const std::size_t before = begin == 0 ? text.npos : text.find_last_not_of(kBlanks, begin - 1);
  const bool begins_value = token[0] == '"' || token[0] == '{' || token[0] == '[' || token[0] == '-' ||
                            (token[0] >= '0' && token[0] <= '9') || token.starts_with("true") ||
                            token.starts_with("false") || token.starts_with("null");
  const bool after_value = before != text.npos && (text[before] == '"' || text[before] == '}' ||
                                                   text[before] == ']' || is_word(text[before]));
  if (begins_value && after_value && is_inside(text.substr(0, begin)))
    return key ? "A colon is missing before this." : "A comma is missing before this.";
  std::size_t word = 0;
  while (word < token.size() && is_word(token[word])) ++word;
  const std::size_t after = token.find_first_not_of(kBlanks, word);
  if (word > 0 && after != token.npos && token[after] == ':') return "Keys are in double quotes.";
  return {};
}

}  // namespace lagtape
