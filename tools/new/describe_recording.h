#pragma once

#include <filesystem>

#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// Describes a table. A time column has times in any format, including numbers, or is the first column and
/// counts evenly; a word column has few distinct words. If times repeat, or row numbers start over, it searches
/// for columns that name each row's series. Throws InputError.
RecordingColumns describe_recording(const std::filesystem::path& file);

}  // namespace lagtape
