#pragma once

#include <cstddef>
#include <memory>

namespace lagtape {

inline constexpr std::size_t kAlignment = 64;  ///< bytes: the size of a cache line and of the widest vector

struct AlignedDelete {
  std::size_t alignment = kAlignment;
  void operator()(std::byte* memory) const noexcept;
};
using AlignedMemory = std::unique_ptr<std::byte[], AlignedDelete>;

/// Uninitialized memory whose address is a multiple of kAlignment, or of 2 MiB for blocks at least that large,
/// which can then lie entirely in large pages. Throws Error if there is not enough memory.
AlignedMemory allocate_aligned(std::size_t bytes);

/// Zeroed memory, aligned in the same way. A large block occupies memory only where it is written. Throws Error
/// if there is not enough memory.
std::shared_ptr<void> allocate_zeros(std::size_t bytes);

}  // namespace lagtape
