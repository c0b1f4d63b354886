#pragma once

#include <filesystem>

#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// Describes a table. A column of times has them in any format, also as numbers, or is the first one and counts evenly;
/// a column of words has few of them. Where times repeat, or numbers that count the rows start again, it searches for
/// columns that name the series of a row. Throws InputError.
RecordingColumns describe_recording(const std::filesystem::path& file);

}  // namespace lagtape
