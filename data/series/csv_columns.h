#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the columns that the options select, handles cells without a number as the options say, and makes the
/// columns that derive from these and from the times. With `may_end`, the last rows without targets become the
/// panel's `future`; otherwise they are errors like any other.
void read_columns(const CsvSource& csv, bool may_end, Panel& panel);

}  // namespace lagtape
