#include "lagtape/core/aligned_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "lagtape/core/out_of_memory.h"

namespace lagtape {

void AlignedDelete::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{alignment});
}

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Asks for large pages where whole ones fit, because long sweeps spend a good part of their time on looking
/// up small pages. The system may decline.
void advise_large_pages(void* memory, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage,
                       last = (begin + bytes) / kLargePage * kLargePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(memory), static_cast<void>(bytes);
#endif
}

}  // namespace

AlignedMemory allocate_aligned(std::size_t bytes) {
  const std::size_t alignment = bytes < kLargePage ? kAlignment : kLargePage;
  void* memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  if (!memory) throw OutOfMemory(bytes);
  advise_large_pages(memory, bytes);
  return {static_cast<std::byte*>(memory), AlignedDelete{alignment}};
}

std::shared_ptr<void> allocate_zeros(std::size_t bytes) {
  constexpr std::size_t kMany = std::size_t{64} << 20;  // more than malloc keeps for the next one
  if (bytes < kMany) {
    std::shared_ptr<void> memory = allocate_aligned(bytes);
    std::memset(memory.get(), 0, bytes);
    return memory;
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw OutOfMemory(bytes);
  advise_large_pages(memory, bytes);
  return {memory, [bytes](void* zeros) { munmap(zeros, bytes); }};
}

}  // namespace lagtape
