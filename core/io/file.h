#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lagtape {

/// Whether the last part of a path may be a link: yes in a path that a user names, no in a folder that may come from a
/// stranger.
enum class Links { followed, refused };

/// The bytes of a regular file: a device or a pipe could be without end. Throws InputError with the path and
/// the reason when it cannot be read, Error when that is the system's fault.
std::string read_file(const std::filesystem::path& path, Links links = Links::followed);

/// The same for a text. A file with holes has zero bytes in it: it is refused before it is read, because it may seem
/// far larger than its room on the disk.
std::string read_text(const std::filesystem::path& path);

/// Replaces a file as a whole: a kill at any moment leaves the old file or the new one. The bytes go to a
/// temporary in the same folder, are synced, and are renamed; then the folder is synced. Throws InputError
/// with the path and the reason when the path is wrong, Error when the disk is full or broken; the old file
/// is then untouched and no temporary is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           Links links = Links::followed);
/// The same for bytes from several places, one after another.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> parts,
                           Links links = Links::followed);

/// Appends bytes to a regular file, which is not a link, and syncs it. Throws as write_file_atomically does;
/// the file then has its old length. A kill can leave a part of the bytes at the end of the file.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws InputError when the path is a link, for writing in a folder that may come from a stranger.
void refuse_link(const std::filesystem::path& path);

/// Removes leftovers of killed writers of a file. Nobody may write it at the same time.
void remove_temporaries_of(const std::filesystem::path& file);

}  // namespace lagtape
