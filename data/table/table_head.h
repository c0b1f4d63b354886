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
  std::int64_t columns = 0;  ///< their number, without last columns that have neither a name nor a cell
  std::vector<std::string> notes = {};  ///< notes for the user, a sentence each
};

/// Names, if no cell of the first row is a number (with any of the decimal points) or a time.
TableHead plain_head(const TextTable& cells, std::string_view decimals);

struct HeadSearch {
  std::string where = {};       ///< begins messages
  bool has_lines_above = true;  ///< lines above the names may have as many cells as the table
};

/// The same for tables as people write them: under lines of few cells, or of texts where the table has numbers, above a
/// row of units, with numbers as names as pandas writes them (",0,1"), without a name for the index, and with two
/// columns of one name, of which the second becomes "a.1". Throws InputError where several lines could be the names.
TableHead find_head(const TextTable& cells, std::string_view decimals, const HeadSearch& search = {});

/// The head of a table whose columns have these names, with equal ones made unique.
TableHead head_of(std::vector<std::string> names);

}  // namespace lagtape
