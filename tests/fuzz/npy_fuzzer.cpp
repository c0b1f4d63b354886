#include "lagtape/core/io/npy.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// An array that was read is written as one that reads the same, and its first bytes give its size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const Tensor array = parse_npy(bytes, "input");
    require(npy_size(bytes, "input") == bytes.size());
    if (array.empty()) return;
    const std::string written = serialize_npy(array);
    require(serialize_npy(parse_npy(written, "written")) == written);
  });
}
