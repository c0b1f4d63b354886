#pragma once

#include "lagtape/data/series/recordings.h"
#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// The cells of a .csv file, with the options' separator and decimal point.
NamedTable read_table(const SeriesOptions& options, const std::filesystem::path& path);

/// One .csv file as a recording. Columns that no option names are ignored; rows are sorted by time, and divided
/// where rows are missing; cells without a number are treated as the options say.
Recordings read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                              bool allow_future);

}  // namespace lagtape
