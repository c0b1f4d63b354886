#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the columns that the options name, treats cells without a number as they say, and makes the columns that
/// follow from these and from the times. The last rows without targets are the panel's `future` with `may_end`, else an
/// error as others.
void read_columns(const CsvSource& csv, bool may_end, Panel& panel);

}  // namespace lagtape
