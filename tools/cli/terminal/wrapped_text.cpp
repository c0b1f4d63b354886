#include "lagtape/tools/cli/terminal/wrapped_text.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace lagtape::cli {

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* named = std::getenv("COLUMNS");
  const std::string_view text = named == nullptr ? "" : named;
  int columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns > 0 ? columns : 80;
}

std::string wrapped(std::string_view text, std::size_t indent, int width) {
  constexpr std::size_t kNarrowest = 24, kSmallIndent = 4;
  if (width <= 0) return std::string(text);
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t next_indent = columns >= indent + kNarrowest ? indent : std::min(indent, kSmallIndent);
  std::string result;
  std::size_t at = indent;  // the column of the next letter
  bool begins = true;       // a line
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t gap = begins ? 0 : 1;
    if (at + gap + word.size() > columns && at > next_indent) {
      result += "\n" + std::string(next_indent, ' ');
      at = next_indent;
    } else if (gap > 0) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
    begins = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace lagtape::cli
