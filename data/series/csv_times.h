#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the time columns, sorts the rows, and splits the series where times are missing.
void read_times(CsvSource& csv, Panel& panel);

}  // namespace lagtape
