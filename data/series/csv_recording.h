#pragma once

#include "lagtape/data/series/recordings.h"

namespace lagtape {

/// One .csv file as a recording. Columns that no option names are ignored; rows are sorted by time, and divided
/// where rows are missing; cells without a number are treated as the options say.
Recordings read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                              bool allow_future);

}  // namespace lagtape
