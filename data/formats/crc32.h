#pragma once

#include <cstdint>
#include <string_view>

namespace lagtape {

/// The CRC-32 of RFC 1952, section 8, over bytes that are added piece by piece.
class Crc32 {
 public:
  void add(std::string_view bytes);
  std::uint32_t value() const { return state_ ^ 0xffffffffu; }

 private:
  std::uint32_t state_ = 0xffffffffu;
};

}  // namespace lagtape
