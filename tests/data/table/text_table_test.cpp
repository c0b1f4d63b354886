#include "lagtape/data/table/text_table.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Cells = std::vector<std::string_view>;
using Lines = std::vector<std::int64_t>;

TextTable table_of(std::string text, char separator = 0) { return {std::move(text), "own.csv", separator}; }

/// All cells, row by row.
Cells cells_of(const TextTable& table) {
  Cells cells;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (const std::string_view cell : table.row(row)) cells.push_back(cell);
  return cells;
}

/// The lines on which rows begin.
Lines lines_of(const TextTable& table) {
  Lines lines;
  for (std::int64_t row = 0; row < table.rows(); ++row) lines.push_back(table.line(row));
  return lines;
}

std::string message_of(const std::string& text) {
  return input_error_of([&] { table_of(text); });
}

}  // namespace

TEST_CASE("a table's separator is the one that divides its lines equally") {
  const TextTable commas = table_of("a,b\n1,2\n"), semicolons = table_of("a;b\n1,5;2,5\n");
  CHECK(cells_of(commas) == Cells{"a", "b", "1", "2"});
  CHECK(cells_of(semicolons) == Cells{"a", "b", "1,5", "2,5"});
  CHECK(table_of("a\tb\n1\t2\n").columns() == 2);
  CHECK(table_of("a|b\n1|2\n").columns() == 2);
  CHECK(table_of("5\n6\n").columns() == 1);
  CHECK(table_of("a, b;c\n1, 2;3\n", ';').columns() == 2);
}

TEST_CASE("blanks, a byte-order mark, CRLF, blank lines and empty last cells are no part of a table") {
  const TextTable table = table_of("\xEF\xBB\xBF a , b \r\n\r\n 1 ,\t2\r\n3,,\r\n");
  CHECK(cells_of(table) == Cells{"a", "b", "1", "2", "3", ""});
  CHECK(lines_of(table) == Lines{1, 3, 4});
}

TEST_CASE("cells in quotes contain separators, line breaks and quotes") {
  const TextTable table = table_of("name,note\n1,\"a, \"\"b\"\"\nc\"\n2, \"\" \n");
  CHECK(cells_of(table) == Cells{"name", "note", "1", "a, \"b\"\nc", "2", ""});
  CHECK(lines_of(table) == Lines{1, 2, 4});
}

TEST_CASE("quotes that are doubled before a separator is known stay doubled until it is") {
  const TextTable table = table_of("\"a\"\"x\";\"b;c\"\n\"1\"\"\";2\n");
  CHECK(table.separator() == ';');
  CHECK(cells_of(table) == Cells{"a\"x", "b;c", "1\"", "2"});
}

TEST_CASE("cells of any length end at the next separator or line, wherever they begin") {
  std::string text;
  std::vector<std::string> cells;
  for (int row = 0; row < 40; ++row) {
    cells.emplace_back(static_cast<std::size_t>(row % 19 + 1), '+');     // one bit from a comma
    cells.emplace_back(static_cast<std::size_t>(3 * row % 17), '\x0B');  // and from a line break
    cells.emplace_back(row % 2 ? "\xAC\x8A\xFF" : "");
    for (int column = 0; column < 3; ++column)
      text += cells[cells.size() - 3 + static_cast<std::size_t>(column)] + (column < 2 ? ","
                                                                            : row < 39 ? "\n"
                                                                                       : "");
  }
  CHECK(cells_of(table_of(text, ',')) == Cells(cells.begin(), cells.end()));
}

TEST_CASE("a table that was moved has its cells") {
  TextTable table = table_of("a,b\n");
  const TextTable moved = std::move(table);
  CHECK(cells_of(moved) == Cells{"a", "b"});
}

TEST_CASE("tables that cannot be read are told with their lines") {
  CHECK(message_of("a,b\n1,2\n3\n") == "own.csv: line 3: expected 2 cells as in the first row, got 1");
  CHECK(has(message_of("a,b\n1,2,3\n"), "line 2: expected 2 cells as in the first row, got 3"));
  CHECK(has(message_of("a\n1,5\n"),
            "line 2: expected 1 cell as in the first row, got 2. The file has one column, in"));
  CHECK(has(message_of("a,b\n1,\"2\n3,4\n"), "line 2: nothing closes the quotes"));
  CHECK(has(message_of("a,b\n1,\"2\"3\n"), "line 2: expected a separator after the quotes, got '3'"));
  CHECK(has(message_of(" \n\n"), "contains no rows"));
  CHECK(has(message_of("a\n" + std::string(std::size_t{1} << 24, '1')), "line 2: a cell above 16 MiB."));
  CHECK(message_of("a\n" + std::string((std::size_t{1} << 24) - 1, '1')).empty());
}

TEST_CASE("long cells and cells of long rows are found") {
  const std::string text(1022, 'x'), longer(1023, 'y'), longest(5'000'000, 'z');
  const TextTable table = table_of(
      text_of("a,b,c,d\n", text, ",", longer, ",", longest, ",5\n1,2,3,4\n", longest, ",", longer, ",,6\n"));
  CHECK(table.cell(1, 0) == text);
  CHECK(table.cell(1, 1) == longer);
  CHECK(table.cell(1, 2) == longest);
  CHECK(table.cell(1, 3) == "5");
  CHECK(table.cell(2, 3) == "4");
  CHECK(table.cell(3, 0) == longest);
  CHECK(table.cell(3, 1) == longer);
  CHECK(table.cell(3, 2).empty());
  CHECK(table.cell(3, 3) == "6");
}
