#pragma once

#include <cstdint>

#include "lagtape/core/thread_pool.h"
#include "lagtape/data/dataset.h"

namespace lagtape {

/// A number that two sets share only if they are equal, judged by up to 256 sequences spread over the set, or
/// fewer if they are long. It does not depend on threads or SIMD level.
std::uint64_t fingerprint(const Dataset& dataset, ThreadPool& pool);

}  // namespace lagtape
