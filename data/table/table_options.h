#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lagtape/core/option_table.h"

namespace lagtape {

/// How a text table of a user is written.
struct TableOptions {
  static constexpr char kNoThousands = 'n';

  char separator = 0;  ///< 0: found from the file
  char decimal = '.';
  char thousands = 0;                      ///< 0: found from whole columns; kNoThousands
  std::int64_t skip_rows = -1;             ///< lines before the table; -1: found from the file
  bool strip_units = false;                ///< cells such as "100 kW" are read as 100
  std::vector<double> missing_codes = {};  ///< numbers that mark missing ones
  /// The same for single columns by their names; then `missing_codes` is empty.
  std::map<std::string, std::vector<double>> codes_by_column = {};

  /// The options for reading a column, with its own codes.
  TableOptions of_column(const std::string& name) const;
};

extern const OptionTable kTableOptions;

}  // namespace lagtape
