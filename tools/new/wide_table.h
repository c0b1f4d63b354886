#pragma once

#include "lagtape/data/table/named_table.h"
#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// Refuses a table whose rows are series and whose columns are their times: names that are dates or count, or rows
/// without names that begin with a class. Throws InputError that shows how to make one row a time.
void refuse_wide_table(const NamedTable& table, const RecordingColumns& found);

}  // namespace lagtape
