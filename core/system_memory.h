#pragma once

#include <cstdint>

namespace lagtape {

/// Bytes of memory that this process may use: the machine's, or its cgroup's limit where that is lower.
std::int64_t system_memory();

}  // namespace lagtape
