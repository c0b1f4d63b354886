#include "lagtape/ops/kernels/scratch.h"

#include "lagtape/core/aligned_memory.h"

namespace lagtape {

void* kernel_scratch(std::size_t bytes) {
  thread_local AlignedMemory memory;
  thread_local std::size_t size = 0;
  if (bytes > size) {
    size = 0;
    memory = allocate_aligned(bytes);
    size = bytes;
  }
  return memory.get();
}

}  // namespace lagtape
