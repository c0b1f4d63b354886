#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lagtape {

/// Whether the bytes begin like a gzip file.
bool is_gzip(std::string_view bytes);

/// The content of a gzip file of one member (RFC 1952). Its length and CRC-32 are checked against the file's
/// last eight bytes; memory grows with the real content, not with the length that a damaged file claims.
/// Throws InputError "WHERE: ...".
std::string gunzip(std::string_view bytes, const std::string& where);

/// The number of bytes that a content has, told by its first bytes: as many as there are, up to 64 KiB.
using ContentSize = std::function<std::uint64_t(std::string_view beginning)>;

/// The bytes of a file, unpacked when it is a gzip file; then `size_of` must agree with the length that the
/// file claims, before the rest is unpacked. Throws InputError with the path.
std::string read_plain_or_gzip(const std::filesystem::path& path, const ContentSize& size_of);

}  // namespace lagtape
