#pragma once

#include <string>

namespace lagtape {

/// Turns a text into UTF-8: UTF-16 by its byte-order mark or its zero bytes, and Windows-1252 where bytes are not UTF-8.
/// Returns the name of the encoding that it had, "" for UTF-8. Throws InputError "WHERE: ...".
std::string make_utf8(std::string& text, const std::string& where);

}  // namespace lagtape
