#include "lagtape/core/json/json_comments.h"

#include <algorithm>
#include <string_view>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

/// The position after the string that starts at `i`.
std::size_t end_of_string(std::string_view text, std::size_t i) {
  for (++i; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

/// Finds the ends of comments, for positions in rising order.
class CommentEnds {
 public:
  /// The position after the comment that starts at `i`; `i` itself if none starts there or it does not end.
  std::size_t behind(std::string_view text, std::size_t i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) return std::min(text.find('\n', i), text.size());
    if (!rest.starts_with("/*") || !closes_) return i;
    const std::size_t end = text.find("*/", i + 2);
    closes_ = end != text.npos;
    return closes_ ? end + 2 : i;
  }

 private:
  bool closes_ = true;  ///< whether a comment may still end: once none does, no later one does
};

}  // namespace

std::string without_comments(std::string text) {
  std::size_t comma = text.npos;  // a comma followed only by blanks so far
  bool after_value = false;       // whether a value precedes that comma
  CommentEnds ends;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (const std::size_t end = ends.behind(text, i); end > i) {
      std::replace_if(
          text.begin() + i, text.begin() + end, [](char one) { return one != '\n' && one != '\r'; }, ' ');
      i = end;
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == ',') {
      comma = after_value ? i : text.npos;
      after_value = false;
    } else if (!blank) {
      if ((c == ']' || c == '}') && comma != text.npos) text[comma] = ' ';
      comma = text.npos;
      after_value = c != '[' && c != '{' && c != ':';
    }
    i = c == '"' ? end_of_string(text, i) : i + 1;
  }
  return text;
}

Json parse_commented_json(const std::string& text, const std::string& where) {
  return parse_json(without_comments(text), where);
}

}  // namespace lagtape
