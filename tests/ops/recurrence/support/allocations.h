#pragma once

#include <cstdint>

namespace lagtape::test {

/// How often `operator new` was called in this process, in any of its forms.
std::int64_t allocations();

}  // namespace lagtape::test
