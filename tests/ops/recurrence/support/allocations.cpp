#include "lagtape/tests/ops/recurrence/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LAGTAPE_COUNTED_BY_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace lagtape::test {
namespace {

std::atomic<std::int64_t> count = 0;

}  // namespace
}  // namespace lagtape::test

#ifdef LAGTAPE_COUNTED_BY_SANITIZER

// Clang's sanitizer of threads has its own operator new, which does not give way to another. A hook is
// called for each of its allocations.
std::int64_t lagtape::test::allocations() {
  [[maybe_unused]] static const int hooks = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t) { ++count; }, [](const volatile void*) {});
  return count;
}

#else

namespace lagtape::test {
namespace {

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  ++count;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

std::int64_t allocations() { return count; }

}  // namespace lagtape::test

// All forms for one object; those for arrays are defined in terms of them.
using lagtape::test::allocate;
using lagtape::test::checked;

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t size) { return checked(allocate(size, kDefault)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, kDefault); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return checked(allocate(size, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
