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
  char thousands = 0;     ///< separator of thousands, ' ' for all blanks; 0: none
  std::string unit = {};  ///< text after each number or before it, such as "%" and "$"

  /// The number of a cell, NaN for one of the codes; nothing for other texts.
  std::optional<double> read(std::string_view cell, const std::vector<double>& missing_codes = {}) const;
};

/// The numbers of a column.
struct NumberColumn {
  Tensor values = {};              ///< [rows], f64; NaN where there is no number
  std::vector<bool> missing = {};  ///< rows without a number; empty: all have one
  NumberStyle style = {};
  std::int64_t coded = 0;     ///< cells with one of the missing codes
  std::int64_t refused = -1;  ///< the first row that is neither a number nor missing; then no values
};

/// The cells of a column in the order in which they are read.
struct ColumnCells {
  std::int64_t rows = 0;
  std::function<std::string_view(std::int64_t row)> cell;
  std::function<Place(std::int64_t row)> place;
};
/// Reads the numbers of a column, of which the first `known` rows are in `values`. Throws InputError where separators of
/// thousands could be decimal points, and the other columns of the table do not decide.
NumberColumn read_number_column(const ColumnCells& cells, std::int64_t known, Tensor values,
                                const NamedTable& table, const TableOptions& options);

/// The first numbers of a column, as far as they are plain.
struct PlainNumbers {
  Tensor values = {};  ///< [rows], f64
  std::int64_t known = 0;
};
/// Reads plain numbers, the usual case, from several columns: some rows of each in turn, because the cells of a row are
/// neighbors in memory. `cell` gives the cell of a row and a column.
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

/// The numbers of a column with numbers in memory, by their rows.
NumberColumn read_number_column(std::int64_t rows, const GivenColumn::Numbers& number,
                                const TableOptions& options);

/// The numbers of a column of a table by its rows.
NumberColumn read_number_column(const NamedTable& table, std::int64_t column, const TableOptions& options);

/// A note on the numbers of a column, where a user may not expect it; "" where they are plain.
std::string note_of_numbers(const NumberColumn& numbers, const std::string& name,
                            const TableOptions& options);

/// The setting that would make a number of a refused cell; empty: none.
std::string hint_for_number(std::string_view cell, const TableOptions& options);

/// Counts of a table's numbers by their possible decimal point: 1.5 and 1,234.5; 1,5 and 1.234,5; or either, with a
/// comma, such as 1,234, or with a point.
struct DecimalVotes {
  std::int64_t points = 0, commas = 0, either_comma = 0, either_point = 0;
};
DecimalVotes count_decimals(const NamedTable& table);

}  // namespace lagtape
