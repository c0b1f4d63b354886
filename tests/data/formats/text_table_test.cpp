#include "lagtape/data/formats/text_table.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Cells = std::vector<std::string_view>;

TextTable table_of(std::string text, char separator = 0) {
  return parse_text_table(std::move(text), "own.csv", separator);
}

std::string message_of(const std::string& text) {
  return input_error_of([&] { table_of(text); });
}

}  // namespace

TEST_CASE("a table's separator is the one that divides its lines equally") {
  CHECK(table_of("a,b\n1,2\n").cells == Cells{"a", "b", "1", "2"});
  CHECK(table_of("a;b\n1,5;2,5\n").cells == Cells{"a", "b", "1,5", "2,5"});
  CHECK(table_of("a\tb\n1\t2\n").columns == 2);
  CHECK(table_of("a|b\n1|2\n").columns == 2);
  CHECK(table_of("5\n6\n").columns == 1);
  CHECK(table_of("a, b;c\n1, 2;3\n", ';').columns == 2);
}

TEST_CASE("blanks, a byte-order mark, CRLF, blank lines and empty last cells are no part of a table") {
  const TextTable table = table_of("\xEF\xBB\xBF a , b \r\n\r\n 1 ,\t2\r\n3,,\r\n");
  CHECK(table.cells == Cells{"a", "b", "1", "2", "3", ""});
  CHECK(table.lines == std::vector<std::int64_t>{1, 3, 4});
}

TEST_CASE("cells in quotes contain separators, line breaks and quotes") {
  const TextTable table = table_of("name,note\n1,\"a, \"\"b\"\"\nc\"\n2, \"\" \n");
  CHECK(table.cells == Cells{"name", "note", "1", "a, \"b\"\nc", "2", ""});
  CHECK(table.lines == std::vector<std::int64_t>{1, 2, 4});
}

TEST_CASE("tables that cannot be read are told with their lines") {
  CHECK(message_of("a,b\n1,2\n3\n") == "own.csv: line 3: expected 2 cells as in the first row, got 1.");
  CHECK(has(message_of("a,b\n1,2,3\n"), "line 2: expected 2 cells as in the first row, got 3"));
  CHECK(has(message_of("a\n1,5\n"),
            "line 2: expected 1 cell as in the first row, got 2. The file has one column, in"));
  CHECK(has(message_of("a,b\n1,\"2\n3,4\n"), "line 2: nothing closes the quotes"));
  CHECK(has(message_of("a,b\n1,\"2\"3\n"), "line 2: expected a separator after the quotes, got '3'"));
  CHECK(has(message_of(" \n\n"), "contains no rows"));
}
