#pragma once

#include <string>
#include <string_view>

namespace lagtape::cli {

/// The number of columns of the terminal behind a file descriptor. Without a terminal it is that of the environment
/// variable COLUMNS, else 80.
int terminal_width(int descriptor);

/// A text that begins at column `indent`, on lines of at most `width` columns, all but the first indented. Width 0:
/// one line, for scripts. A word that is too long has its own line.
std::string wrapped(std::string_view text, std::size_t indent, int width);

}  // namespace lagtape::cli
