#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// A text with everything escaped that could affect a terminal: control characters and bytes that are not
/// UTF-8, as \n, \t, \x1b; non-ASCII control characters and characters that change the writing direction, as
/// \u009b and \u202e, so JSON text stays valid. Line breaks stay if `keeps_lines`.
std::string printable(std::string_view text, bool keeps_lines = false);

/// The only way in which messages show text from a file or the command line: printable, in single quotes, with
/// "..." in place of everything after the first `longest` bytes.
std::string quote(std::string_view text, std::size_t longest = 60);

/// The same without quotation marks.
std::string shortened(std::string_view text, std::size_t longest = 60);

/// "a, b, c": the names, shortened; if there are more than `most`, the first ones and "and 12 more".
std::string listed(const std::vector<std::string>& names, std::size_t most = 60);

bool is_utf8(std::string_view text);

/// The characters of a UTF-8 text. A byte that belongs to none counts as one.
std::u32string code_points(std::string_view text);

}  // namespace lagtape
