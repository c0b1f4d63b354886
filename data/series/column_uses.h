#pragma once

#include <functional>
#include <vector>

#include "lagtape/data/series/series_options.h"

namespace lagtape {

/// A column of a file, and its role in a model.
struct ColumnUse {
  std::int64_t source = 0;  ///< its number in the file
  ColumnRole role = ColumnRole::past;
};

/// The numeric columns of a file that a model uses, in the model's order.
struct ColumnUses {
  std::vector<ColumnUse> inputs = {};
  std::vector<std::int64_t> targets = {};  ///< columns in the file

  bool is_target(std::int64_t source) const;
};

/// Returns the number of a column, given its name or number in a key of the data such as "target".
using FindColumn = std::function<std::int64_t(const Json& column, const std::string& key)>;

/// Finds the columns that the options select in a file with that many columns. If all columns are read, the
/// columns `times` are left out. Throws InputError if a column is given by both name and number.
ColumnUses column_uses(const SeriesOptions& options, std::int64_t columns,
                       const std::vector<std::int64_t>& times, const FindColumn& find,
                       const std::string& where);

}  // namespace lagtape
