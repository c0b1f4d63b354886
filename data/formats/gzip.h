#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lagtape {

/// Whether the bytes begin like a gzip file.
bool is_gzip(std::string_view bytes);

/// The content of a gzip file of one member (RFC 1952). Its length and CRC-32 are checked against the file's
/// last eight bytes; memory grows with the real content, not with the length that a damaged file claims.
/// Throws InputError "WHERE: ...".
std::string gunzip(std::string_view bytes, const std::string& where);

/// The bytes of a file, unpacked when it is a gzip file. Throws InputError with the path.
std::string read_plain_or_gzip(const std::filesystem::path& path);

}  // namespace lagtape
