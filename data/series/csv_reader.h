#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lagtape/data/formats/text_table.h"
#include "lagtape/data/series/series_options.h"

namespace lagtape {

/// Reads a table's columns by the options, and keeps the places of cells for messages. Throws InputError.
class CsvReader {
 public:
  using Column = std::vector<double>;

  /// The options must outlive the reader.
  CsvReader(const SeriesOptions& options, const std::filesystem::path& path);

  std::int64_t rows() const { return table_.rows() - first_; }
  std::int64_t columns() const { return table_.columns; }
  const std::vector<std::string>& names() const { return names_; }  ///< empty: columns have none
  const std::string& where() const { return where_; }
  std::int64_t line(std::int64_t row) const { return table_.lines[static_cast<std::size_t>(row + first_)]; }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return table_.cell(row + first_, column);
  }
  /// Whether a cell of times is a date: not a number (with a decimal point).
  bool is_date(std::int64_t row, std::int64_t column) const;

  /// The number of a column by its name or number.
  std::int64_t column(const Json& entry) const;
  /// "own.csv: line 3, column 2 (load)".
  std::string place(std::int64_t row, std::int64_t column) const;
  /// The numbers of a column, NaN where there is none.
  Column numbers(std::int64_t column) const;
  /// Seconds since 1970, from the options' column of times.
  Column times() const;

 private:
  [[noreturn]] void refuse(std::int64_t row, std::int64_t column, std::string_view text) const;

  const SeriesOptions& options_;
  std::string where_;
  TextTable table_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int64_t> places_;  ///< by name: the column; -1: several have it
  std::int64_t first_ = 0;                                ///< the first row of numbers
};

}  // namespace lagtape
