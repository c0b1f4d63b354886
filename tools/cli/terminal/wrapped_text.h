#pragma once

#include <string>
#include <string_view>

namespace lagtape::cli {

/// The number of columns of the terminal at a file descriptor. Without a terminal it is the environment
/// variable COLUMNS, else 80.
int terminal_width(int descriptor);

/// A text that starts at column `indent`, wrapped to at most `width` columns, with all lines but the first
/// indented. Width 0: one line, for scripts. A word that is too long gets its own line.
std::string wrapped(std::string_view text, std::size_t indent, int width);

}  // namespace lagtape::cli
