#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lagtape {

/// Whether the last part of a path may be a link: yes for a path from the user, no in a folder that may come
/// from a stranger.
enum class Links { followed, refused };

/// The bytes of a regular file; devices and pipes, which might never end, are errors. Throws InputError with
/// the path and the reason if it cannot be read, or Error if the system is at fault.
std::string read_file(const std::filesystem::path& path, Links links = Links::followed);

/// The same for a text. A sparse file contains null bytes, so it is rejected before it is read: it may appear
/// far larger than the space that it takes on disk.
std::string read_text(const std::filesystem::path& path);

/// Replaces a file as a whole: a kill at any moment leaves the old file or the new one. The bytes go to a
/// temporary in the same folder, are synced, and are renamed; then the folder is synced. Throws InputError with
/// the path and the reason if the path is wrong, or Error if the disk is full or broken; the old file is then
/// untouched and no temporary file is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           Links links = Links::followed);
/// The same for bytes from several places, one after another.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> parts,
                           Links links = Links::followed);

/// Appends bytes to a regular file that is not a link, and syncs it. Throws as write_file_atomically does,
/// leaving the file at its old length. A kill can leave part of the bytes at the end of the file.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws InputError if the path is a link. Call it before writing to a folder that may come from a stranger.
void refuse_link(const std::filesystem::path& path);

/// Removes temporary files that killed writers of a file left behind. Nobody may write the file at the same
/// time.
void remove_temporaries_of(const std::filesystem::path& file);

}  // namespace lagtape
