#include "lagtape/core/text_lines.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

using namespace lagtape;

TEST_CASE("Lines are those of std::getline") {
  for (const std::string text : {"", "\n", "a", "a\n", "a\nbc", "\n\na\n\n", "a\r\nb"}) {
    CAPTURE(text);
    std::vector<std::string> wanted, lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) wanted.push_back(line);
    std::string_view rest = text;
    for (std::string line; take_line(rest, line);) lines.push_back(line);
    CHECK(lines == wanted);
  }
}
