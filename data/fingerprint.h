#pragma once

#include <cstdint>

#include "lagtape/core/thread_pool.h"
#include "lagtape/data/dataset.h"

namespace lagtape {

/// A number that two sets have in common only if they are equal, as far as some of their sequences show: at
/// up to 256 spread over the set, and at fewer where they are long. It does not depend on threads or SIMD level.
std::uint64_t fingerprint(const Dataset& dataset, ThreadPool& pool);

}  // namespace lagtape
