#include "lagtape/core/aligned_memory.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

using namespace lagtape;

TEST_CASE("Memory begins on a cache line, and on a large page where one fits") {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, kPage - 1, kPage, 5 * kPage / 2}) {
    const AlignedMemory memory = allocate_aligned(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % (bytes < kPage ? kAlignment : kPage) == 0);
    std::memset(memory.get(), 1, bytes);
  }
}
