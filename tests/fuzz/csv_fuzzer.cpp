#include "lagtape/data/table/csv.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// Numbers that are read are written as a text that reads as the same numbers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const Csv table = parse_csv(std::string(text), "input");
    const std::string written = serialize_csv({.header = {}, .values = table.values});
    require(serialize_csv({.header = {}, .values = parse_csv(written, "written").values}) == written);
  });
}
