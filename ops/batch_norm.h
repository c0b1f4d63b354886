#pragma once

#include <cstdint>
#include <span>

#include "lagtape/core/tape.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// The moments of each feature of a batch, over the steps within its rows' lengths.
struct BatchMoments {
  Tensor mean, variance;   ///< [n]; the variance divides by `count`
  std::int64_t count = 0;  ///< number of counted steps
};

/// y = gain * (x - mean) / sqrt(variance + eps) + bias; x, y: [B, T, n], gain, bias: [n]. `moments`
/// receives the moments, taken over the steps within the rows' lengths (none given: all T); beyond them y is
/// zero. Sums run over time within a row, then over rows, in double, for any number of threads.
Var batch_norm(const Var& x, const Var& gain, const Var& bias, std::span<const std::int64_t> lengths,
               double eps, ThreadPool& pool, BatchMoments& moments);

}  // namespace lagtape
