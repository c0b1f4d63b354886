#include "lagtape/data/formats/wav.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const Wav wav = parse_wav(bytes, "input");
    require(wav.rate > 0 && !wav.samples.empty() && 2 * wav.samples.size() <= bytes.size());
  });
}
