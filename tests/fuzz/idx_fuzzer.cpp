#include "lagtape/data/formats/gzip.h"
#include "lagtape/data/formats/idx.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const MemoryFile file(bytes);
    const Idx idx = read_idx(file.path(), bytes.size() % 3 + 1);
    std::int64_t count = 1;
    for (const std::int64_t extent : idx.shape) count *= extent;
    require(count == std::ssize(idx.values()));
  });
}
