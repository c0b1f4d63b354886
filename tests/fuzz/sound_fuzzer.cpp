#include "lagtape/data/formats/sound.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const Sound sound = parse_sound(bytes, "input");
    require(sound.rate > 0 && !sound.samples.empty());
  });
}
