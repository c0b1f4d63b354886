#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// Which sequences of a whole are in which split.
struct SplitIndices {
  std::vector<std::int64_t> train, valid, test;
};

/// 0..n-1 in their order.
std::vector<std::int64_t> in_order(std::int64_t n);

/// The first `train`, the last `valid` and, behind the first, `test` of a permutation of 0..n-1 drawn from
/// the seed. The three must not exceed n.
SplitIndices random_split(std::int64_t n, std::int64_t train, std::int64_t valid, std::int64_t test,
                          std::uint64_t seed);

/// The split of scikit-learn's train_test_split called twice with one random_state, first for the rest, then
/// for test out of the rest: a permutation begins with the smaller part. n = train + valid + test.
SplitIndices sklearn_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

/// The split of torch.utils.data.random_split called twice, each time with a generator of that seed: first
/// train and the rest, then test and valid. n = train + valid + test.
SplitIndices torch_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

}  // namespace lagtape
