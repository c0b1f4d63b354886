#pragma once

#include "lagtape/data/series/read_panel.h"

namespace lagtape {

/// One .csv file as a panel. Columns that no option names are ignored; rows are sorted by time, and divided where rows are
/// missing; cells without a number are treated as the options say.
Panel read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                         const PanelReading& reading);

}  // namespace lagtape
