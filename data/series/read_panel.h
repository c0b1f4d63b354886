#pragma once

#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Whether a path is a pattern, with a * in its last part.
bool is_pattern(const std::filesystem::path& path);
/// The files that match a pattern, sorted by name; for any other path, the path itself. Throws InputError if
/// there are none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& path);

/// Reads the files given in the options, relative to `base`. Throws InputError with the file and, if there is
/// one, the line.
Panel read_panel(const SeriesOptions& options, const std::filesystem::path& base,
                 const PanelReading& reading = {});

}  // namespace lagtape
