#pragma once

#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the files that the options name, relative to `base`. Throws InputError with the file and, where there is one,
/// the line.
Panel read_panel(const SeriesOptions& options, const std::filesystem::path& base,
                 const PanelReading& reading = {});

}  // namespace lagtape
