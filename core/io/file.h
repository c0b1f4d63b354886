#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lagtape {

/// The bytes of a file. Throws InputError with the path and the reason when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Replaces a file as a whole: a kill at any moment leaves the old file or the new one. The bytes go to a
/// temporary in the same folder, are synced, and take the name; then the folder is synced. Throws InputError
/// with the path and the reason when the path is wrong, Error when the disk is full or broken; the old file is
/// then untouched and no temporary is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace lagtape
