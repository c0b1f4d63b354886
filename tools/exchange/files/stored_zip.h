#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lagtape::foreign {

/// Whether bytes start like a zip archive.
bool begins_like_zip(std::string_view bytes);

/// The entries of a zip archive by name, as parts of its bytes. PyTorch and Keras store them uncompressed.
/// Throws InputError that starts with `where` for a damaged archive, a checksum mismatch, and a compressed
/// entry. Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
std::map<std::string, std::string_view> stored_entries(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
