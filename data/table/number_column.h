#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/table_options.h"

namespace lagtape {

/// How all numbers of a column are written.
struct NumberStyle {
  char decimal = '.';
  char thousands = 0;     ///< thousands separator, ' ' for all blanks; 0: none
  std::string unit = {};  ///< text before or after each number, such as "$" or "%"

  /// The number in a cell, NaN for one of the codes; empty for other texts.
  std::optional<double> read(std::string_view cell, const std::vector<double>& missing_codes = {}) const;
};

/// The numbers of a column.
struct NumberColumn {
  Tensor values = {};              ///< [rows], f64; NaN for missing numbers
  std::vector<bool> missing = {};  ///< rows without a number; empty: there are none
  NumberStyle style = {};
  std::int64_t coded = 0;  ///< cells with one of the missing codes
  /// the first row that is neither a number nor missing; then there are no values
  std::int64_t refused = -1;
};

/// The cells of a column, in the order in which they are read.
struct ColumnCells {
  std::int64_t rows = 0;
  std::function<std::string_view(std::int64_t row)> cell;
  std::function<Place(std::int64_t row)> place;
};
/// Reads the numbers of a column; the first `known` rows are already in `values`. Throws InputError if
/// thousands separators could be decimal points and the table's other columns do not settle it.
NumberColumn read_number_column(const ColumnCells& cells, std::int64_t known, Tensor values,
                                const NamedTable& table, const TableOptions& options);

/// The leading numbers of a column that are plain.
struct PlainNumbers {
  Tensor values = {};  ///< [rows], f64
  std::int64_t known = 0;
};
/// Reads plain numbers, the usual case, from several columns: a few rows of each in turn, because the cells of
/// a row are adjacent in memory. `cell` returns the cell of a row and column.
template <class CellOf>
std::vector<PlainNumbers> read_plain_numbers(std::int64_t rows, std::span<const std::int64_t> columns,
                                             const CellOf& cell, const TableOptions& options) {
  constexpr std::int64_t kBlock = 128;
  std::vector<PlainNumbers> numbers;
  for (std::size_t i = 0; i < columns.size(); ++i) numbers.push_back({.values = Tensor({rows}, Dtype::f64)});
  for (std::int64_t first = 0;
       first < rows && options.missing_codes.empty() && options.codes_by_column.empty(); first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, rows);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      double* const to = numbers[i].values.template values<double>().data();
      std::int64_t& known = numbers[i].known;
      for (std::int64_t row = first; row < end && known == row; ++row) {
        const std::optional<double> value = parse_number(cell(row, columns[i]), options.decimal);
        if (!value || !std::isfinite(*value)) break;
        to[row] = *value;
        ++known;
      }
    }
  }
  return numbers;
}

/// The numbers of a numeric column in memory, by row.
NumberColumn read_number_column(std::int64_t rows, const GivenColumn::Numbers& number,
                                const TableOptions& options);

/// The numbers of a table column, by row.
NumberColumn read_number_column(const NamedTable& table, std::int64_t column, const TableOptions& options);

/// A note about how the numbers of a column were read, if a user may not expect it; "" if they are plain.
std::string note_of_numbers(const NumberColumn& numbers, const std::string& name,
                            const TableOptions& options);

/// The setting with which a rejected cell would be a number; empty: none.
std::string hint_for_number(std::string_view cell, const TableOptions& options);

/// How many of a table's numbers allow each decimal point: 1.5 and 1,234.5; 1,5 and 1.234,5; or either, with a
/// comma, such as 1,234, or with a point.
struct DecimalVotes {
  std::int64_t points = 0, commas = 0, either_comma = 0, either_point = 0;
};
DecimalVotes count_decimals(const NamedTable& table);

}  // namespace lagtape
