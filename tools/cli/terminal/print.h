#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace lagtape::cli {

/// Writes to stdout with everything escaped that could act on a terminal: names may come from a file of somebody else. JSON
/// stays JSON of the same values. Line breaks stay.
void print_text(std::string_view text);
/// The same to stderr.
void note_text(std::string_view text);

/// Prints an error on stderr, as the tool's. If that fails, the exit code still tells what happened.
void report(std::string_view message);

/// fmt::print by print_text.
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

/// fmt::print by note_text.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  note_text(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lagtape::cli
