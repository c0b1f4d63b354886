#pragma once

#include "lagtape/data/table/named_table.h"
#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// Rejects a table whose rows are series and whose columns are their times: with names that are dates or count
/// up, or with unnamed rows that start with a class. Throws InputError that shows how to turn it so that each
/// row is a time.
void refuse_wide_table(const NamedTable& table, const RecordingColumns& found);

}  // namespace lagtape
