#pragma once

#include <cstdint>
#include <string_view>

namespace lagtape {

/// FNV-1a with 64 bits (Fowler, Noll and Vo): every version of the library gives a text the same number.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace lagtape
