#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The cells of a table that is written as text: a line a row, the cells of a row divided by a separator. Blanks
/// around a cell are not part of it; a cell in double quotes may contain separators, line breaks and, doubled,
/// quotes.
struct TextTable {
  char separator = ',';
  std::int64_t columns = 0;
  std::vector<std::string_view> cells = {};  ///< [rows, columns] row by row
  std::vector<std::int64_t> lines = {};      ///< [rows], the line of the file on which a row begins, from 1

  std::int64_t rows() const { return static_cast<std::int64_t>(lines.size()); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return cells[static_cast<std::size_t>(row * columns + column)];
  }

  std::shared_ptr<const std::string> text = {};          ///< the file, in which most cells lie
  std::shared_ptr<std::deque<std::string>> quoted = {};  ///< cells that contained doubled quotes
};

/// Reads a table. Without a separator (0) it is the one of comma, semicolon, tab and bar that divides the first
/// lines into equally many cells, and the most; a comma that is the numbers' `decimal` is none, unless there are
/// quotes. A byte-order mark, CRLF, blank lines and empty cells beyond the first row's are allowed. Throws InputError "WHERE: line L: ..." for a row with more or fewer cells than the
/// first and for a quote that nothing closes, and when there is no row.
TextTable parse_text_table(std::string text, const std::string& where, char separator = 0,
                           char decimal = '.');

}  // namespace lagtape
