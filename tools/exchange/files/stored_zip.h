#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lagtape::foreign {

/// Whether bytes begin like a zip archive.
bool begins_like_zip(std::string_view bytes);

/// The entries of a zip archive by their names, as parts of its bytes. PyTorch and Keras store them as they are. Throws
/// InputError that begins with `where` for a damaged archive, an entry whose checksum differs, and one that is compressed.
/// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
std::map<std::string, std::string_view> stored_entries(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
