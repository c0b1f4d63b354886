#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// Bytes that an operation would take, were memory of no concern, and that it cannot do without.
struct Need {
  std::int64_t wanted = 0, least = 0;
};

/// What each gets of `bytes`: in proportion to what it would like; those that cannot do with that have their
/// least, and the others the rest. `bytes` are at least the sum of `least` and less than that of `wanted`.
std::vector<std::int64_t> shares_of(std::int64_t bytes, std::span<const Need> needs);

}  // namespace lagtape
