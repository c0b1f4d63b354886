#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Mono sound.
struct Sound {
  std::int64_t rate = 0;       ///< samples per second
  std::vector<float> samples;  ///< integers are divided by full scale: 2^15 for 16 bits, 2^23 for 24
};

/// Reads a sound file's bytes as one channel: WAV, FLAC or AIFF with any number of bits. Throws InputError
/// "WHERE: ..." for other bytes, for a file that is cut short or has no samples, and for a non-finite sample.
Sound parse_sound(std::string_view bytes, const std::string& where);

}  // namespace lagtape
