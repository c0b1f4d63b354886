#include "lagtape/core/quote.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// Quoted text is UTF-8 without control characters, and unchanged if it is that already.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const std::string shown = printable(text);
    require(is_utf8(shown) && printable(shown) == shown);
    for (const char c : shown) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    require(shortened(text, 10).size() <= 6 * 10 + 3);  // a byte of 7F becomes \u007f
    if (is_utf8(text)) require(is_utf8(shortened(text, 10)));
  });
}
