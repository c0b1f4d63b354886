#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/data/table/text_table.h"

namespace lagtape {

/// A table whose columns have names, if no cell of its first row is a number or a time.
class NamedTable {
 public:
  /// `where` begins messages. Numbers of the first row may have any of the decimal points. Throws InputError for a table
  /// of names alone.
  NamedTable(TextTable cells, std::string where, std::string_view decimals);

  std::int64_t rows() const { return cells_.rows() - first_; }
  std::int64_t columns() const { return cells_.columns(); }
  const std::vector<std::string>& names() const { return names_; }  ///< empty: columns have none
  const std::string& where() const { return where_; }
  char separator() const { return cells_.separator(); }
  std::int64_t line(std::int64_t row) const { return cells_.line(row + first_); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return cells_.cell(row + first_, column);
  }

  /// The number of a column by its name. Throws InputError with the nearest one, and with who wants it.
  std::int64_t column(const std::string& name, const std::string& wanted_by = "") const;
  /// The name of a column, or "column 2".
  std::string name_of(std::int64_t column) const;
  /// "own.csv: line 3, column 2 (load)".
  Place place(std::int64_t row, std::int64_t column) const;

 private:
  TextTable cells_;
  std::string where_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int64_t> places_;  ///< by name: the column; -1: several have it
  std::int64_t first_ = 0;                                ///< the first row of numbers
};

}  // namespace lagtape
