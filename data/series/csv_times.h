#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the column of times: puts the rows in their order, and divides the series where times are missing.
void read_times(CsvSource& csv, Panel& panel);

}  // namespace lagtape
