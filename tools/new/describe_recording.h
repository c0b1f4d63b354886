#pragma once

#include <filesystem>

#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// Looks at a table. A column of times has them in any format, also as numbers, or is the first one and counts evenly;
/// one of words has few of them. Where times come again, or numbers that count the rows start again, columns are
/// searched for that say which series a row is of. Throws InputError.
RecordingColumns describe_recording(const std::filesystem::path& file);

}  // namespace lagtape
