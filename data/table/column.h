#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// The kind of a column's values: measured numbers, whether a cell contains a certain word, whether another
/// column has a number there, or a function of the time.
enum class ColumnKind : std::uint8_t { number, category, mask, calendar };

/// The role of a column in a model: predicted, known up to now, known for later rows too, or constant over all
/// rows.
enum class ColumnRole : std::uint8_t { target, past, future, fixed };

/// A quantity and its unit, as commonly written: "load" in "MW".
struct Quantity {
  std::string name, unit = {};  ///< the unit may be empty
};

/// A column of a recording, one value per row.
struct Column {
  std::string name;
  std::string unit = {};  ///< the unit, from a row of units or from all cells
  ColumnKind kind = ColumnKind::number;
  ColumnRole role = ColumnRole::past;
  Tensor values = {};                  ///< the values of one column, or of several side by side
  std::int64_t first = 0, stride = 1;  ///< position of the column in `values`, and distance between its rows
  /// By row, whether its number was missing and is computed from others; empty: none.
  std::vector<bool> filled = {};
  std::int64_t masks = -1;  ///< the column that a mask refers to; -1: this is not a mask
  /// The value of a calendar column at a local time, in seconds since 1970.
  std::function<double(double)> at_time = {};

  double at(std::int64_t row) const { return values.at(first + row * stride); }
  bool is_filled(std::int64_t row) const { return !filled.empty() && filled[static_cast<std::size_t>(row)]; }
  /// The number measured in a row, NaN if none was.
  double measured(std::int64_t row) const {
    return is_filled(row) ? std::numeric_limits<double>::quiet_NaN() : at(row);
  }
};

/// Consecutive rows.
struct RowRange {
  std::int64_t first = 0, rows = 0;

  std::int64_t end() const { return first + rows; }
};

}  // namespace lagtape
