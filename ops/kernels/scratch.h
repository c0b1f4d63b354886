#pragma once

#include <cstddef>

namespace lagtape {

/// Memory of the calling thread for the time of one kernel, on a 64-byte boundary. It grows on demand, and lives as
/// long as the thread.
void* kernel_scratch(std::size_t bytes);

}  // namespace lagtape
