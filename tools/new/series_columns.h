#pragma once

#include "lagtape/tools/new/recording_column.h"
#include "lagtape/tools/new/table_codes.h"

namespace lagtape {

/// The series of a table.
struct FoundSeries {
  std::vector<std::string> names =
      {};  ///< names of the columns that name the series of a row; empty: one series
  std::int64_t count = 0;
  std::vector<std::int64_t> of = {};  ///< by row, the number of its series
  std::int64_t usual_rows = 0;        ///< three in four series have as many rows, or more
  std::string time = {};  ///< the column that counts the rows of each series in any order; "": none
};

/// Finds the one or two columns that name the series of a row, where times repeat, and marks the columns with one value
/// in each. With `has_lines`, as in a .tsf file, the first column names them.
FoundSeries find_series(TableCodes& codes, bool has_lines, std::vector<RecordingColumn>& columns);

/// The same for a table without times, which has a column that counts the rows of each series, or one with a name such
/// as `unique_id`.
FoundSeries find_counted_series(TableCodes& codes, std::vector<RecordingColumn>& columns);

}  // namespace lagtape
