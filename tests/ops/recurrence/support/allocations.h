#pragma once

#include <cstdint>

namespace lagtape::test {

/// The number of calls of `operator new`, in any of its forms, in this process.
std::int64_t allocations();

}  // namespace lagtape::test
