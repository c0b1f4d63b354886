#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lagtape/core/option_table.h"

namespace lagtape {

/// How a user's text table is written.
struct TableOptions {
  static constexpr char kNoThousands = 'n';

  char separator = 0;  ///< 0: inferred from the file
  char decimal = '.';
  char thousands = 0;                      ///< 0: inferred from whole columns; kNoThousands
  std::int64_t skip_rows = -1;             ///< lines before the table; -1: inferred from the file
  bool strip_units = false;                ///< cells such as "100 kW" are read as 100
  std::vector<double> missing_codes = {};  ///< numbers that mark missing values
  /// The same for single columns by name; `missing_codes` is then empty.
  std::map<std::string, std::vector<double>> codes_by_column = {};

  /// The options for reading a column, with its own codes.
  TableOptions of_column(const std::string& name) const;
};

extern const OptionTable kTableOptions;

}  // namespace lagtape
