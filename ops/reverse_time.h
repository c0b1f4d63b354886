#pragma once

#include <cstdint>
#include <span>

#include "lagtape/core/tape.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// Every row of x [B, T, n] from its own last step to its first: y[b, t] = x[b, L_b - 1 - t], zeros from L_b
/// on, where L [B] are the lengths (not given: all T).
Tensor reversed_in_time(const Tensor& x, std::span<const std::int64_t> lengths, ThreadPool& pool);

/// The same on the tape.
Var reverse_time(const Var& x, std::span<const std::int64_t> lengths, ThreadPool& pool);

}  // namespace lagtape
