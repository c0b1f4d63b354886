#include "lagtape/tests/recurrence/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace lagtape::test {
namespace {

std::atomic<std::int64_t> count = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  ++count;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::int64_t allocations() { return count; }

}  // namespace lagtape::test

// The other forms of new and delete are defined in terms of these.
void* operator new(std::size_t size) {
  return lagtape::test::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return lagtape::test::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
