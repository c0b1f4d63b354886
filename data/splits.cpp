#include "lagtape/data/splits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/data/permutations.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

using Indices = std::vector<std::int64_t>;

/// The values values[places[first]], ..., values[places[first + count - 1]].
Indices chosen(const Indices& values, const Indices& places, std::int64_t first, std::int64_t count) {
  Indices result;
  for (std::int64_t i = first; i < first + count; ++i) {
    result.push_back(values[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])]);
  }
  return result;
}

/// The number of sequences among before..end - 1 in a share. The numbers for adjacent ranges add up to that of
/// both.
std::int64_t count_in(double share, std::int64_t before, std::int64_t end) {
  return std::llround(share * static_cast<double>(end)) - std::llround(share * static_cast<double>(before));
}

}  // namespace

Indices in_order(std::int64_t n) {
  Indices indices(static_cast<std::size_t>(n));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

SplitIndices random_split(std::int64_t n, std::int64_t train, std::int64_t valid, std::int64_t test,
                          std::uint64_t seed) {
  RandomStream stream(seed, stream_name({static_cast<std::uint64_t>(DataStream::split)}));
  const Indices shuffled = permutation(n, stream);
  return {.train = {shuffled.begin(), shuffled.begin() + train},
          .valid = {shuffled.end() - valid, shuffled.end()},
          .test = {shuffled.begin() + train, shuffled.begin() + train + test}};
}

SplitIndices published_split(const SetSizes& sizes, std::int64_t learning, std::int64_t testing,
                             std::string_view what, const std::filesystem::path& place, std::uint64_t seed) {
  const auto require = [&](std::int64_t wanted, std::int64_t present, const char* sets) {
    if (wanted <= present) return;
    throw InputError(
        {place.string()}, Rule::out_of_range,
        text_of("contains ", present, " ", what, " for ", sets, ", expected at least ", wanted, "."));
  };
  require(sizes.train + sizes.valid, learning, "train and valid");
  require(sizes.test, testing, "test");
  SplitIndices split = random_split(learning, sizes.train, sizes.valid, 0, seed);
  split.test = in_order(sizes.test);
  return split;
}

SplitIndices sklearn_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed) {
  const std::int64_t rest = valid + test, all = train + rest;
  const Indices first = numpy_permutation(seed, all), second = numpy_permutation(seed, rest);
  const Indices others = chosen(in_order(all), first, 0, rest);
  return {.train = chosen(in_order(all), first, rest, train),
          .valid = chosen(others, second, test, valid),
          .test = chosen(others, second, 0, test)};
}

SplitIndices torch_split(std::int64_t train, std::int64_t valid, std::int64_t test, std::uint32_t seed) {
  const std::int64_t rest = valid + test, all = train + rest;
  const Indices first = torch_permutation(seed, all), second = torch_permutation(seed, rest);
  const Indices others = chosen(in_order(all), first, train, rest);
  return {.train = chosen(in_order(all), first, 0, train),
          .valid = chosen(others, second, test, valid),
          .test = chosen(others, second, 0, test)};
}

SplitIndices stratified_split(std::span<const std::int32_t> classes, const SplitShares& shares,
                              std::uint64_t seed) {
  RandomStream stream(seed, stream_name({static_cast<std::uint64_t>(DataStream::split)}));
  Indices shuffled = permutation(std::ssize(classes), stream);
  const auto class_of = [&](std::int64_t i) { return classes[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(shuffled, {}, class_of);
  SplitIndices split;
  for (std::int64_t begin = 0, end = 0; begin < std::ssize(shuffled); begin = end) {
    const std::int32_t of = class_of(shuffled[static_cast<std::size_t>(begin)]);
    while (end < std::ssize(shuffled) && class_of(shuffled[static_cast<std::size_t>(end)]) == of) ++end;
    const auto first = shuffled.begin() + begin;
    const std::int64_t all = count_in(shares.train + shares.valid + shares.test, begin, end);
    if (all <= 0) continue;  // shares that add up to less than 1 may leave out a class
    const std::int64_t valid = std::clamp<std::int64_t>(count_in(shares.valid, begin, end), 0, all - 1);
    const std::int64_t test = std::clamp<std::int64_t>(count_in(shares.test, begin, end), 0, all - 1 - valid);
    const std::int64_t train = all - valid - test;
    split.train.insert(split.train.end(), first, first + train);
    split.valid.insert(split.valid.end(), first + train, first + train + valid);
    split.test.insert(split.test.end(), first + train + valid, first + train + valid + test);
  }
  for (Indices* set : {&split.train, &split.valid, &split.test}) std::ranges::sort(*set);
  return split;
}

SplitIndices stratified_split(std::span<const std::int32_t> classes, const SplitShares& shares,
                              std::uint64_t seed, const std::string& where) {
  SplitIndices split = stratified_split(classes, shares, seed);
  const auto require = [&](const char* name, double share, const Indices& set) {
    if (share > 0 && set.empty())
      throw InputError({where}, Rule::shape,
                       text_of(classes.size(), " sequences are too few: a share of ", share,
                               " leaves none for ", name, "."),
                       "", text_of("\"", name, "\": 0 does without it."));
  };
  require("train", shares.train, split.train);
  require("valid", shares.valid, split.valid);
  require("test", shares.test, split.test);
  return split;
}

namespace {

/// The sequences of each group, largest groups first, with ties in an order drawn from the seed.
std::vector<Indices> groups_by_size(std::span<const std::int32_t> groups, std::uint64_t seed) {
  std::vector<Indices> members;
  for (std::int64_t i = 0; i < std::ssize(groups); ++i) {
    const auto group = static_cast<std::size_t>(groups[static_cast<std::size_t>(i)]);
    if (group >= members.size()) members.resize(group + 1);
    members[group].push_back(i);
  }
  RandomStream stream(seed, stream_name({static_cast<std::uint64_t>(DataStream::split)}));
  std::vector<Indices> ordered;
  for (const std::int64_t group : permutation(std::ssize(members), stream))
    ordered.push_back(std::move(members[static_cast<std::size_t>(group)]));
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const Indices& one) { return one.size(); });
  return ordered;
}

}  // namespace

SplitIndices grouped_split(std::span<const std::int32_t> classes, std::span<const std::int32_t> groups,
                           const SplitShares& shares, std::uint64_t seed, const std::string& where) {
  const std::vector<Indices> ordered = groups_by_size(groups, seed);
  const auto width = static_cast<std::size_t>(*std::ranges::max_element(classes) + 1);
  const auto class_of = [&](std::int64_t i) {
    return static_cast<std::size_t>(classes[static_cast<std::size_t>(i)]);
  };
  std::vector<double> all(width, 0);
  for (const std::int32_t of : classes) all[static_cast<std::size_t>(of)] += 1;
  struct Set {
    Indices indices = {};
    double share = 0;
    std::vector<double> counts = {};  // by class
  };
  std::vector<Set>
      sets;  // training, validation and test set, and what shares that add up to less than 1 leave out
  const double rest = 1 - shares.train - shares.valid - shares.test;
  for (const double share : {shares.train, shares.valid, shares.test, std::max(rest, 0.0)})
    sets.push_back({.share = share, .counts = std::vector<double>(width, 0)});
  const auto is_lacking = [](const Set& set) { return set.share > 0 && set.indices.empty(); };
  const auto needed = std::count_if(sets.begin(), sets.begin() + 3, is_lacking);
  if (std::ssize(ordered) < needed)
    throw InputError(
        {where}, Rule::shape,
        text_of(ordered.size(), " groups are too few for ", needed, " sets, each of which has whole ones."));
  for (std::size_t k = 0; k < ordered.size(); ++k) {
    std::vector<double> own(width, 0);
    for (const std::int64_t i : ordered[k]) own[class_of(i)] += 1;
    const bool fills = static_cast<std::ptrdiff_t>(ordered.size() - k) <=
                       std::count_if(sets.begin(), sets.begin() + 3, is_lacking);
    Set* best = nullptr;
    double best_gain = 0;
    for (Set& set : sets) {
      if (set.share <= 1e-9 || (fills && (!is_lacking(set) || &set == &sets.back()))) continue;
      double gain = 0;  // the decrease in the squared deficits of a set's shares
      for (std::size_t c = 0; c < width; ++c) {
        const double lacks = set.share * all[c] - set.counts[c];
        if (all[c] > 0) gain += own[c] * (2 * lacks - own[c]) / all[c];
      }
      if (best != nullptr && gain <= best_gain) continue;
      best = &set;
      best_gain = gain;
    }
    best->indices.insert(best->indices.end(), ordered[k].begin(), ordered[k].end());
    for (std::size_t c = 0; c < width; ++c) best->counts[c] += own[c];
  }
  for (Set& set : sets) std::ranges::sort(set.indices);
  return {.train = std::move(sets[0].indices),
          .valid = std::move(sets[1].indices),
          .test = std::move(sets[2].indices)};
}

}  // namespace lagtape
