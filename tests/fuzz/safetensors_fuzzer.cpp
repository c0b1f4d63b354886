#include "lagtape/core/io/safetensors.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// A file that is read is written as one that reads as the same tensors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const SafetensorsFile file = parse_safetensors(bytes, "input");
    const std::string written = serialize_safetensors(file);
    require(serialize_safetensors(parse_safetensors(written, "written")) == written);
  });
}
