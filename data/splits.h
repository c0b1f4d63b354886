#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The indices of the sequences in each split.
struct SplitIndices {
  std::vector<std::int64_t> train, valid, test;
};

/// The indices 0..n-1 in order.
std::vector<std::int64_t> in_order(std::int64_t n);

/// Splits a permutation of 0..n-1 drawn from the seed: its first `train` indices, the next `test` and the last
/// `valid`. Their sum must not exceed n.
SplitIndices random_split(std::int64_t n, std::int64_t train, std::int64_t valid, std::int64_t test,
                          std::uint64_t seed);

/// The numbers of sequences in the sets that an experiment requests.
struct SetSizes {
  std::int64_t train = 0, valid = 0, test = 0;
};

/// The split of published files: train and valid at random from `learning` sequences, test the first of
/// `testing`. Throws InputError if there are too few; `what` is their name: "digits".
SplitIndices published_split(const SetSizes& sizes, std::int64_t learning, std::int64_t testing,
                             std::string_view what, const std::filesystem::path& place, std::uint64_t seed);

/// The split that two calls of scikit-learn's train_test_split with the same random_state produce: the first
/// separates train from the rest, the second test from valid. Each permutation starts with the held-out part.
/// There are n = train + valid + test sequences.
SplitIndices sklearn_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

/// The split that two calls of torch.utils.data.random_split produce, each with a generator of that seed: the
/// first separates train from the rest, the second test from valid. There are n = train + valid + test
/// sequences.
SplitIndices torch_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed);

/// The fraction of the sequences in each set.
struct SplitShares {
  double train = 0.7, valid = 0.15, test = 0.15;
};

/// Splits a permutation drawn from the seed, so that every set gets its share of each class, rounded to a whole
/// number, and the training set at least one sequence of each. `classes`: [N], from 0. Each set is in the order
/// of the sequences.
SplitIndices stratified_split(std::span<const std::int32_t> classes, const SplitShares& shares,
                              std::uint64_t seed);
/// Splits groups of sequences, keeping each within one set, so that the sets get their shares of all sequences
/// and of each class as nearly as the groups allow. Groups are assigned by size, the largest first and ties
/// ordered by the seed, each to the set that lacks most of its content. `groups`: [N], from 0. Throws
/// InputError if there are fewer groups than sets.
SplitIndices grouped_split(std::span<const std::int32_t> classes, std::span<const std::int32_t> groups,
                           const SplitShares& shares, std::uint64_t seed, const std::string& where);

/// The same for the sequences of a file. Throws InputError if there are too few for a set with a nonzero share.
SplitIndices stratified_split(std::span<const std::int32_t> classes, const SplitShares& shares,
                              std::uint64_t seed, const std::string& where);

}  // namespace lagtape
