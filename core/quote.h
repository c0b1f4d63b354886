#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// A text in which everything that could act on a terminal is escaped: control characters, and bytes that are not
/// UTF-8, as \n, \t, \x1b, those beyond ASCII's and characters that turn the direction of writing as \u009b and \u202e:
/// a text in JSON stays one. Line breaks stay if `keeps_lines`.
std::string printable(std::string_view text, bool keeps_lines = false);

/// The one way in which messages show text that comes from a file or a command line: printable, in single
/// quotes, and with "..." in place of all after the first `longest` bytes.
std::string quote(std::string_view text, std::size_t longest = 60);

/// The same without quotation marks.
std::string shortened(std::string_view text, std::size_t longest = 60);

/// "a, b, c": the names shortened; of more than `most`, the first ones and "and 12 more".
std::string listed(const std::vector<std::string>& names, std::size_t most = 60);

bool is_utf8(std::string_view text);

/// The characters of a text of UTF-8. A byte that belongs to none is one by itself.
std::u32string code_points(std::string_view text);

}  // namespace lagtape
