#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagtape {

/// Where a table starts in a text.
struct TableStart {
  std::size_t offset = 0;  ///< in bytes
  std::int64_t line = 1;
  char separator = 0;            ///< 0: not known yet
  bool lacks_index = false;      ///< the first row has no name for the first column, as R writes tables
  bool allows_comments = false;  ///< rows with other numbers of cells that start with # are skipped
};

/// The cells of a table that is written as text: a line a row, the cells of a row divided by a separator. Blanks
/// around a cell are not part of it; a cell in double quotes may contain separators, line breaks and, doubled,
/// quotes.
class TextTable {
 public:
  /// Reads a table. If the separator is 0, it is chosen among comma, semicolon, tab and bar: the one that
  /// divides the first lines into equally many cells, and the most; a comma only if no other does, and the
  /// numbers' `decimal` only if there are quotes. A byte-order mark, CRLF, blank lines and extra empty cells
  /// are allowed. Throws InputError "WHERE: line L: ..." for a row with more or fewer cells than the first, for
  /// an unclosed quote and for a cell above 16 MiB, and if there is no row.
  TextTable(std::string text, const std::string& where, char separator = 0, char decimal = '.',
            const TableStart& start = {});

  char separator() const { return separator_; }
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  std::int64_t columns() const { return columns_; }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    const auto index = static_cast<std::size_t>(row * columns_ + column);
    const ShortCell cell = cells_[index];
    if (cell.size == kLong) return long_cell(index);
    return {text_.data() + rows_[static_cast<std::size_t>(row)] + cell.behind, cell.size};
  }
  std::vector<std::string_view> row(std::int64_t row) const;
  /// Whether blanks around a cell were removed.
  bool has_blanks_around(std::int64_t row, std::int64_t column) const;
  /// The line of the text on which a row starts, from 1.
  std::int64_t line(std::int64_t row) const { return lines_[static_cast<std::size_t>(row)]; }
  std::int64_t comments() const { return comments_; }        ///< rows that were skipped
  std::int64_t blank_lines() const { return blank_lines_; }  ///< skipped rows between two rows

 private:
  /// A part of the text.
  struct Cell {
    std::uint64_t first = 0, size = 0;
  };
  /// The same, by byte offset from the first cell of its row: all cells of a table take only a fraction of its
  /// numbers' memory.
  struct ShortCell {
    std::uint32_t behind : 22, size : 10;
  };
  /// marks the size of a cell that is stored among the long ones
  static constexpr std::uint32_t kLong = (1 << 10) - 1;
  class Reader;

  static constexpr std::int64_t kSample = 1000;  ///< rows from which the number of the others is estimated

  void find_separator(char decimal, const TableStart& start);
  void reserve(std::size_t bytes);
  void add_row(const std::vector<Cell>& row, std::int64_t line);
  void drop_empty_end();
  std::string_view long_cell(std::size_t index) const;
  std::int64_t equal_cells(char separator, int lines, const TableStart& start);

  std::string text_;  ///< of the file, with doubled quotes in cells made single
  char separator_;
  std::int64_t columns_ = 0, comments_ = 0, blank_lines_ = 0;
  std::vector<ShortCell> cells_ = {};                          ///< [rows, columns] row by row
  std::vector<std::pair<std::size_t, Cell>> long_cells_ = {};  ///< by position in cells_, ascending
  std::vector<std::uint64_t> rows_ = {};                       ///< [rows], where the first cell starts
  std::vector<std::uint32_t> lines_ = {};                      ///< [rows]
};

}  // namespace lagtape
