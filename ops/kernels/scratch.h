#pragma once

#include <cstddef>

namespace lagtape {

/// Memory of the calling thread for the duration of one kernel call, 64-byte aligned. It grows on demand, and
/// lives as long as the thread.
void* kernel_scratch(std::size_t bytes);

}  // namespace lagtape
