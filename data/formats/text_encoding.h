#pragma once

#include <string>

namespace lagtape {

/// Converts a text to UTF-8: from UTF-16, recognized by its byte-order mark or null bytes, or from Windows-1252
/// if bytes are not UTF-8. Returns the name of the original encoding, "" for UTF-8. Throws InputError "WHERE:
/// ...".
std::string make_utf8(std::string& text, const std::string& where);

}  // namespace lagtape
