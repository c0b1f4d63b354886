#include "lagtape/data/formats/crc32.h"

#include <array>

namespace lagtape {

void Crc32::add(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      table[n] = n;
      for (int k = 0; k < 8; ++k) table[n] = table[n] & 1 ? 0xedb88320u ^ table[n] >> 1 : table[n] >> 1;
    }
    return table;
  }();
  for (char c : bytes) state_ = kTable[(state_ ^ static_cast<unsigned char>(c)) & 0xff] ^ state_ >> 8;
}

}  // namespace lagtape
