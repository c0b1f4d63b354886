#pragma once

#include "lagtape/tools/new/recording_column.h"
#include "lagtape/tools/new/table_codes.h"

namespace lagtape {

/// The series of a table.
struct FoundSeries {
  std::vector<std::string> names = {};  ///< names of the columns that name a row's series; empty: one series
  std::int64_t count = 0;
  std::vector<std::int64_t> of = {};  ///< by row, the number of its series
  std::int64_t usual_rows = 0;        ///< at least three in four series have this many rows or more
  std::string time = {};              ///< the column that counts each series' rows, in any order; "": none
};

/// Finds the one or two columns that name a row's series, if times repeat, and marks the columns that are
/// constant in each series. With `has_lines`, as in a .tsf file, the first column names them.
FoundSeries find_series(TableCodes& codes, bool has_lines, std::vector<RecordingColumn>& columns);

/// The same for a table without times that has a column that counts the rows of each series, or one with a name
/// such as `unique_id`.
FoundSeries find_counted_series(TableCodes& codes, std::vector<RecordingColumn>& columns);

}  // namespace lagtape
