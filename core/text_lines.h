#pragma once

#include <string>
#include <string_view>

namespace lagtape {

/// Removes the next line from the front of a text and returns it without its '\n'; false if there is none left:
///
///     for (std::string line; take_line(rest, line);)
///
/// std::getline treats a failed allocation as the end of the text, and loses the rest.
inline bool take_line(std::string_view& rest, std::string& line) {
  if (rest.empty()) return false;
  const std::size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return true;
}

}  // namespace lagtape
