#pragma once

#include <cstdint>

#include "lagtape/core/tape.h"

namespace lagtape {

/// In training y = x * m / (1 - p), where m is 0 with probability p, else 1: element i is dropped when number
/// i of RandomStream(seed, stream) is below p. Otherwise y = x. 0 <= p < 1, else InputError.
Var dropout(const Var& x, double p, std::uint64_t seed, std::uint64_t stream, bool training);

}  // namespace lagtape
