#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// A column in a program's memory: texts, or numbers that are read in place.
struct GivenColumn {
  using Numbers = std::function<double(std::int64_t row)>;

  std::string name;
  std::int64_t rows = 0;
  Numbers number = {};                                      ///< NaN: missing; empty: a text column
  std::function<std::string(std::int64_t row)> write = {};  ///< the text of a number; "": missing
  std::vector<std::string> texts = {};                      ///< [rows] of a text column
};

/// A table of columns in memory. Numbers become texts when their cells are read, for example as names of series.
class ColumnTable {
 public:
  /// Throws InputError for columns of different lengths.
  explicit ColumnTable(std::vector<GivenColumn> columns);

  std::int64_t rows() const { return columns_.empty() ? 0 : columns_.front().rows; }
  std::vector<std::string> names() const;
  /// The numbers of a column; null for a text column.
  const GivenColumn::Numbers* numbers(std::int64_t column) const;
  std::string_view cell(std::int64_t row, std::int64_t column) const;

 private:
  std::vector<GivenColumn> columns_;
  mutable std::vector<std::vector<std::string>> written_;  ///< by numeric column: its cells, once one is read
};

}  // namespace lagtape
