#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

/// Numbers that replace the cells of one column, or of several combined: rows with equal cells have the same
/// number, from 0 in order of first appearance.
struct RowCodes {
  std::vector<std::uint32_t> of = {};     ///< by row
  std::vector<std::int64_t> firsts = {};  ///< by number, the first row with that number
  std::int64_t blocks = 0;                ///< rows with the same number are contiguous

  std::int64_t count() const { return std::ssize(firsts); }
  std::size_t at(std::int64_t row) const { return of[static_cast<std::size_t>(row)]; }
  bool are_blocks() const { return blocks == count(); }
  bool goes_on(std::int64_t row) const { return row > 0 && at(row) == at(row - 1); }
};

/// The number of rows whose pair of numbers already occurred in an earlier row.
std::int64_t repeated_pairs(const RowCodes& a, const RowCodes& b);

/// The numbers or dates of a column.
struct ColumnValues {
  std::vector<double> of = {};  ///< by row; empty: a cell is neither
  bool are_dates = false;       ///< some are
};

/// The contents of a table's columns; each is read once.
class TableCodes {
 public:
  TableCodes(const NamedTable& table, char decimal) : table(table), decimal_(decimal) {}

  const NamedTable& table;

  const RowCodes& of(std::int64_t column);
  RowCodes of(const std::vector<std::int64_t>& columns);
  /// The codes of a column; nullptr if more than half of the rows differ.
  const RowCodes* few_of(std::int64_t column);
  const ColumnValues& values(std::int64_t column);
  /// The number in a cell, as the table writes numbers.
  std::optional<double> number(std::string_view cell) const { return parse_number(cell, decimal_); }

 private:
  std::optional<RowCodes> read(std::int64_t column, std::int64_t most) const;

  char decimal_;
  std::map<std::int64_t, RowCodes> codes_ = {};
  std::map<std::int64_t, bool> are_many_ = {};
  std::map<std::int64_t, ColumnValues> values_ = {};
};

}  // namespace lagtape
