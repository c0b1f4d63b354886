#include "lagtape/core/aligned_memory.h"

#include <new>

#include "lagtape/core/error.h"

namespace lagtape {

void AlignedDelete::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{kAlignment});
}

AlignedMemory allocate_aligned(std::size_t bytes) {
  void* memory = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
  if (!memory) throw Error(concat("out of memory: ", bytes, " bytes were asked for"));
  return AlignedMemory(static_cast<std::byte*>(memory));
}

}  // namespace lagtape
