#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// The kind of a column's values: measured numbers, whether a cell has a certain word, whether the number of
/// another column was there, or a function of the time.
enum class ColumnKind : std::uint8_t { number, category, mask, calendar };

/// The role of a column in a model: predicted, known up to now, known for later rows as well, or one value in
/// all rows.
enum class ColumnRole : std::uint8_t { target, past, future, fixed };

/// The quantity and its unit, as people name them: "load" in "MW".
struct Quantity {
  std::string name, unit = {};  ///< the unit may be empty
};

/// A column of a recording, a value a row.
struct Column {
  std::string name;
  std::string unit = {};  ///< the unit in a row of units, or in all cells
  ColumnKind kind = ColumnKind::number;
  ColumnRole role = ColumnRole::past;
  Tensor values = {};                  ///< the values of one column, or of several side by side
  std::int64_t first = 0, stride = 1;  ///< place of the column in `values`, and distance of its rows
  /// By row, whether its number was missing and is computed from others; empty: none.
  std::vector<bool> filled = {};
  std::int64_t masks = -1;  ///< the column that a mask is about; -1: this is not a mask
  /// The value of a calendar column at a time of the local clock, in seconds since 1970.
  std::function<double(double)> at_time = {};

  double at(std::int64_t row) const { return values.at(first + row * stride); }
  bool is_filled(std::int64_t row) const { return !filled.empty() && filled[static_cast<std::size_t>(row)]; }
  /// The number of a row as it was measured, NaN where it was not.
  double measured(std::int64_t row) const {
    return is_filled(row) ? std::numeric_limits<double>::quiet_NaN() : at(row);
  }
};

/// Rows one after the other.
struct RowRange {
  std::int64_t first = 0, rows = 0;

  std::int64_t end() const { return first + rows; }
};

}  // namespace lagtape
