#pragma once

#include "lagtape/data/series/future_files.h"

namespace lagtape {

/// Reads one .csv file as a panel. Columns that no option selects are ignored; rows are sorted by time, and
/// split where rows are missing; cells without a number are handled as the options say. `future`: null if there
/// are no files of following rows.
Panel read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path, bool allow_future,
                         const FutureFiles* future);

}  // namespace lagtape
