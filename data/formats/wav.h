#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Sound in one channel.
struct Wav {
  std::int64_t rate = 0;  ///< samples per second
  std::vector<std::int16_t> samples;
};

/// Parses RIFF/WAVE with one channel of 16-bit PCM, the usual format of speech corpora. Chunks other than
/// "fmt " and "data" are skipped. Throws InputError "WHERE: offset O: ..." with what was found and expected.
Wav parse_wav(std::string_view bytes, const std::string& where);

/// Sound in one channel; whole numbers are divided by their full scale, 2^15, 2^23 or 2^31.
struct Sound {
  std::int64_t rate = 0;  ///< samples per second
  std::vector<float> samples;
};

/// Parses RIFF/WAVE with one channel of PCM of 16, 24 or 32 bits or of 32-bit floats, the formats of music
/// production. Throws InputError as parse_wav does, and for a sample that is not finite.
Sound parse_sound(std::string_view bytes, const std::string& where);

}  // namespace lagtape
