#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/table/text_table.h"

namespace lagtape {

/// The part of a table above its numbers.
struct TableHead {
  std::vector<std::string> names = {};  ///< [columns]; empty: columns have none
  std::vector<std::string> units = {};  ///< [columns]; empty: no row of units
  std::int64_t first = 0;               ///< the first row of numbers
  /// the number of columns, without trailing ones that have neither a name nor a cell
  std::int64_t columns = 0;
  std::vector<std::string> notes = {};  ///< notes for the user, one sentence each
};

/// Names, if no cell of the first row is a number (with any possible decimal point) or a time.
TableHead plain_head(const TextTable& cells, std::string_view decimals);

struct HeadSearch {
  std::string where = {};       ///< starts messages
  bool has_lines_above = true;  ///< lines above the names may have as many cells as the table
};

/// The same for tables found in practice. Lines with few cells, or with texts where the table has numbers, may
/// come before the names, and a row of units after them; names may be numbers as pandas writes them (",0,1"),
/// the index may lack a name, and of two columns with the same name the second becomes "a.1". Throws InputError
/// if several lines could be the names.
TableHead find_head(const TextTable& cells, std::string_view decimals, const HeadSearch& search = {});

/// The head of a table whose columns have these names, with duplicates made unique.
TableHead head_of(std::vector<std::string> names);

}  // namespace lagtape
