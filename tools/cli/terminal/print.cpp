#include "lagtape/tools/cli/terminal/print.h"

#include <cstdio>

#include "lagtape/core/quote.h"

namespace lagtape::cli {

void print_text(std::string_view text) { std::fputs(printable(text, true).c_str(), stdout); }

void note_text(std::string_view text) { std::fputs(printable(text, true).c_str(), stderr); }

}  // namespace lagtape::cli
