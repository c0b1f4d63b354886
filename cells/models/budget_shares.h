#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// The memory of an operation: the bytes wanted, and the minimum with which it can run.
struct Need {
  std::int64_t wanted = 0, least = 0;
};

/// Divides `bytes` in proportion to the bytes that the operations want. An operation that cannot run with its
/// share gets its minimum, and the others divide the rest. `bytes` is at least the sum of `least` and less than
/// the sum of `wanted`.
std::vector<std::int64_t> shares_of(std::int64_t bytes, std::span<const Need> needs);

}  // namespace lagtape
