#include "lagtape/tools/cli/terminal/print.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::cli {
namespace {

/// The message with overlong words, such as a path in the arguments, cut short.
std::string readable(std::string_view rest) {
  constexpr std::size_t kLongest = 250;
  std::string text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    text += shortened(rest.substr(0, end), kLongest);
    rest.remove_prefix(end);
    if (rest.empty()) break;
    text += rest.front();
    rest.remove_prefix(1);
  }
  return text;
}

}  // namespace

void print_text(std::string_view text) { std::fputs(printable(text, true).c_str(), stdout); }

void note_text(std::string_view text) { std::fputs(printable(text, true).c_str(), stderr); }

void report(std::string_view message) {
  // Parts of a message come from files and arguments, and none of them shall act on the terminal.
  std::fputs(text_of("lagtape: ", readable(printable(message, true)), "\n").c_str(), stderr);
}

}  // namespace lagtape::cli
