#pragma once

#include <cstdint>

namespace lagtape {

/// The bytes of memory that this process may use: the machine's, or its cgroup's limit if lower.
std::int64_t system_memory();

}  // namespace lagtape
