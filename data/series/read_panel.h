#pragma once

#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Whether a path names files by a * in its last part.
bool is_pattern(const std::filesystem::path& path);
/// The files that a pattern names, in the order of their names; of another path the path itself. Throws InputError where there are none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& path);

/// Reads the files that the options name, relative to `base`. Throws InputError with the file and, where there is one,
/// the line.
Panel read_panel(const SeriesOptions& options, const std::filesystem::path& base,
                 const PanelReading& reading = {});

}  // namespace lagtape
