#include "lagtape/data/table/number_table.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size,
                [](std::string_view text) { require(parse_number_table(text, 2, "input").size() % 2 == 0); });
}
