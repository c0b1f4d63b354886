#include "lagtape/data/formats/gzip.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) { gunzip(bytes, "input"); });
}
