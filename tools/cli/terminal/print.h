#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace lagtape::cli {

/// Writes to stdout, escaping everything that could affect a terminal, because names may come from a stranger's
/// file. JSON keeps its values. Line breaks stay.
void print_text(std::string_view text);
/// The same to stderr.
void note_text(std::string_view text);

/// Prints an error of the tool on stderr. If that fails, the exit code still says what happened.
void report(std::string_view message);

/// fmt::print through print_text.
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

/// fmt::print through note_text.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  note_text(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lagtape::cli
