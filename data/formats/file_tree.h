#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lagtape {

/// The files to read from a folder or an archive.
struct FileWish {
  std::function<bool(std::string_view name)>
      wanted;            ///< `name` is the path inside the folder or archive, with '/'
  std::int64_t largest;  ///< limit of a file's size in bytes
  /// Given a file's first bytes, its size; empty while more bytes are needed. An archive is unpacked no further
  /// than that. Null: any size up to the limit.
  std::function<std::optional<std::uint64_t>(const std::string& name, std::string_view beginning)> size = {};
};

/// Passes to `take` the wanted files below a folder (in the order of their names) or inside a tar or zip
/// archive, plain or gzip (in the order in which they are stored). Only one file is in memory at a time, and an
/// archive is never unpacked as a whole. The length and CRC-32 of a single-member gzip file are checked at its
/// end. Throws InputError with path and name if the path is missing or neither a folder nor an archive, and for
/// a damaged archive or a file above the limit.
void read_files(const std::filesystem::path& path, const FileWish& wish,
                const std::function<void(const std::string& name, std::string bytes)>& take);

/// Passes one file to `take` piece by piece, so it is never in memory as a whole: `path` itself, plain or gzip,
/// under the name ""; or, where `path` is a folder or a tar or zip archive, plain or gzip, the first wanted
/// file in it. Returns whether there is such a file, even if it is empty and so has no pieces. Checks and
/// throws as read_files does.
bool stream_file(const std::filesystem::path& path, const std::function<bool(std::string_view name)>& wanted,
                 const std::function<void(const std::string& name, std::string_view piece)>& take);

/// "PATH: NAME": how messages name a file inside a folder or an archive.
std::string place_of(const std::filesystem::path& path, std::string_view name);

}  // namespace lagtape
