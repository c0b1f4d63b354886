#include "lagtape/tools/view/table_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// A line of a text, without its end.
struct Line {
  std::size_t begin = 0, next = 0;  ///< `next` is where the next line begins
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({begin, std::min(end + 1, text.size()), line});
    begin = lines.back().next;
  }
  return lines;
}

}  // namespace

std::string page_with(const fs::path& page, const std::string& name, const std::string& table) {
  const std::string first = fmt::format("<!-- table {} -->", name);
  const std::string last = fmt::format("<!-- end of table {} -->", name);
  std::string text = fs::exists(page) ? read_file(page) : std::string();
  const std::string section = fmt::format("{}\n{}{}\n", first, table, last);
  const std::vector<Line> lines = lines_of(text);
  const auto is_marker = [](const Line& line) {
    return line.text.starts_with("<!-- table ") || line.text.starts_with("<!-- end of table ");
  };
  const auto start = std::ranges::find(lines, first, &Line::text);
  if (start == lines.end() && std::ranges::find(lines, last, &Line::text) == lines.end()) {
    if (!text.empty()) text += '\n';
    text += section;
  } else {
    const auto end = start == lines.end() ? start : std::find_if(start + 1, lines.end(), is_marker);
    if (end == lines.end() || end->text != last || std::ranges::count(lines, first, &Line::text) != 1 ||
        std::ranges::count(lines, last, &Line::text) != 1) {
      throw InputError({page.string()}, Rule::shape,
                       text_of("expected the lines '", first, "' and '", last,
                               "' once each, in this order, with no other table between them."));
    }
    text.replace(start->begin, end->next - start->begin, section);
  }
  return text;
}

void put_into_page(const fs::path& page, const std::string& name, const std::string& table) {
  write_file_atomically(page, page_with(page, name, table));
}

}  // namespace lagtape::table
