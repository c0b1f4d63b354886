#pragma once

#include "lagtape/data/series/future_files.h"

namespace lagtape {

/// One .csv file as a panel. Columns that no option names are ignored; rows are sorted by time, and divided where rows are
/// missing; cells without a number are treated as the options say.
/// `future`: null where there are no files of the rows that follow.
Panel read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path, bool allow_future,
                         const FutureFiles* future);

}  // namespace lagtape
