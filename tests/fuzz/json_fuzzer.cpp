#include "lagtape/core/json/json_reader.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// A text that is read is written as one that reads as the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const Json json = parse_json(std::string(text), "input");
    const std::string written = json.dump();
    require(parse_json(written, "written").dump() == written);
  });
}
