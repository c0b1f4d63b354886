#pragma once

#include <cstddef>
#include <memory>

namespace lagtape {

inline constexpr std::size_t kAlignment = 64;  ///< bytes: a cache line, and the widest vector

struct AlignedDelete {
  std::size_t alignment = kAlignment;
  void operator()(std::byte* memory) const noexcept;
};
using AlignedMemory = std::unique_ptr<std::byte[], AlignedDelete>;

/// Uninitialized memory whose address is a multiple of kAlignment, or of 2 MiB where it is as large: all of it can then
/// lie in large pages. Throws Error when there is not enough.
AlignedMemory allocate_aligned(std::size_t bytes);

/// Zeros at such an address. Large ones occupy memory only where they are written. Throws Error when there is
/// not enough.
std::shared_ptr<void> allocate_zeros(std::size_t bytes);

}  // namespace lagtape
