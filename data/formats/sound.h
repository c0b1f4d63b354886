#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Sound in one channel.
struct Sound {
  std::int64_t rate = 0;  ///< samples per second
  std::vector<float>
      samples;  ///< whole numbers are divided by their full scale: 2^15 for 16 bits, 2^23 for 24
};

/// Reads the bytes of a sound file in one channel: WAV, FLAC or AIFF of any number of bits.
/// Throws InputError "WHERE: ..." for other bytes, for a file that is cut short, one without samples, and a sample that is
/// not finite.
Sound parse_sound(std::string_view bytes, const std::string& where);

}  // namespace lagtape
