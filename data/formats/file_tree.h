#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lagtape {

/// What to read of a folder or an archive.
struct FileWish {
  std::function<bool(std::string_view name)> wanted;  ///< by path inside the folder or archive, with '/'
  std::int64_t largest;                               ///< bytes that one of them may have
};

/// Hands over the wanted files below a folder (in the order of their names), or inside a tar or zip archive,
/// plain or gzip (in the order they are stored), one at a time: no more than one is in memory, and an archive
/// is never unpacked as a whole. The length and CRC-32 of a gzip file of one member are checked at its end.
/// Throws InputError with path and name: nothing there, neither folder nor archive, damaged, a file larger
/// than wished.
void read_files(const std::filesystem::path& path, const FileWish& wish,
                const std::function<void(const std::string& name, std::string bytes)>& take);

/// Hands over one file piece by piece, so that it need not be in memory as a whole: `path` itself, plain or
/// gzip, by the name "", or where that is a folder or a tar or zip archive, plain or gzip, the first file in
/// it that is wanted. Returns whether there is one; an empty file, which has no pieces, is one. Checks and
/// throws as read_files.
bool stream_file(const std::filesystem::path& path, const std::function<bool(std::string_view name)>& wanted,
                 const std::function<void(const std::string& name, std::string_view piece)>& take);

/// "PATH: NAME": what messages call a file inside a folder or an archive.
std::string place_of(const std::filesystem::path& path, std::string_view name);

}  // namespace lagtape
