#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// The indices of the sequences in each split.
struct SplitIndices {
  std::vector<std::int64_t> train, valid, test;
};

/// The indices 0..n-1 in order.
std::vector<std::int64_t> in_order(std::int64_t n);

/// Splits a permutation of 0..n-1 that is drawn from the seed: its first `train` indices, the next `test` and
/// the last `valid`. Their sum must not exceed n.
SplitIndices random_split(std::int64_t n, std::int64_t train, std::int64_t valid, std::int64_t test,
                          std::uint64_t seed);

/// The split that two calls of scikit-learn's train_test_split with the same random_state give: the first
/// separates train from the rest, the second test from valid. Each permutation begins with the held-out part.
/// There are n = train + valid + test sequences.
SplitIndices sklearn_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

/// The split that two calls of torch.utils.data.random_split give, each with a generator of that seed: the
/// first separates train from the rest, the second test from valid. There are n = train + valid + test
/// sequences.
SplitIndices torch_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

}  // namespace lagtape
