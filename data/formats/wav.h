#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Sound of one channel.
struct Wav {
  std::int64_t rate = 0;  ///< samples a second
  std::vector<std::int16_t> samples;
};

/// Reads RIFF/WAVE with one channel of 16-bit PCM, as telephones and corpora of speech have it; chunks other
/// than "fmt " and "data" are passed over. Throws InputError "WHERE: offset O: ..." with what was found and
/// expected.
Wav parse_wav(std::string_view bytes, const std::string& where);

}  // namespace lagtape
