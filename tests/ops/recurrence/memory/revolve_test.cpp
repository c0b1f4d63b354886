#include "lagtape/ops/recurrence/memory/revolve.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace lagtape::recurrence {
namespace {

/// The fewest intervals run again, by trying every place for the next checkpoint.
std::int64_t fewest(std::int64_t n, std::int64_t free, bool first) {
  if (n == 1) return first ? 0 : 1;
  // Without a further checkpoint, all intervals up to the last are run, and the rest again from here.
  std::int64_t best = (first ? 0 : n) + fewest(n - 1, free, false);
  for (std::int64_t before = 1; free > 0 && before < n; ++before)
    best = std::min(best,
                    (first ? 0 : before) + fewest(n - before, free - 1, first) + fewest(before, free, false));
  return best;
}

/// A walk back as the slice runner does it, which counts how often each checkpoint interval is run again.
struct Walk {
  std::vector<std::int64_t> runs;
  std::int64_t kept = 0, most_kept = 0;

  void back(std::int64_t low, std::int64_t high, std::int64_t free, bool first) {
    ++kept;
    most_kept = std::max(most_kept, kept);
    while (high > low) {
      if (high - low == 1 || free == 0) {
        for (std::int64_t s = low; s < high && !first; ++s) ++runs[static_cast<std::size_t>(s)];
        --high;
      } else {
        const std::int64_t middle = low + cut(high - low, free, first);
        for (std::int64_t s = low; s < middle && !first; ++s) ++runs[static_cast<std::size_t>(s)];
        back(middle, high, free - 1, first);
        high = middle;
      }
      first = false;
    }
    --kept;
  }
};

TEST_CASE("the schedule runs as few intervals again as any") {
  for (std::int64_t slots = 1; slots <= 4; ++slots)
    for (std::int64_t intervals = 1; intervals <= 12; ++intervals) {
      CAPTURE(slots);
      CAPTURE(intervals);
      CHECK(runs_again(intervals, slots) == fewest(intervals, slots - 1, true));
    }
}

TEST_CASE("as many checkpoints as intervals are counted without a recursion as deep") {
  CHECK(runs_again(2000000, 2000000) == 1999999);  // all but the last are run again, once
}

TEST_CASE("a walk back keeps to its slots, its sweeps and its count") {
  for (std::int64_t slots = 1; slots <= 7; ++slots)
    for (std::int64_t intervals = 1; intervals <= 150; intervals += 1 + intervals / 20) {
      CAPTURE(slots);
      CAPTURE(intervals);
      Walk walk{std::vector<std::int64_t>(static_cast<std::size_t>(intervals))};
      walk.back(0, intervals, slots - 1, true);
      std::int64_t sum = 0;
      for (const std::int64_t runs : walk.runs) sum += runs;
      CHECK(walk.most_kept <= slots);
      CHECK(sum == runs_again(intervals, slots));
      CHECK(*std::max_element(walk.runs.begin(), walk.runs.end()) == sweeps_for(intervals, slots));
    }
}

TEST_CASE("slots and sweeps fit the number of intervals exactly") {
  CHECK(most_intervals(3, 1) == 4);  // the last checkpoint interval needs no checkpoint
  CHECK(most_intervals(3, 2) == 10);
  CHECK(most_intervals(10, 3) == 286);
  for (std::int64_t sweeps = 1; sweeps <= 5; ++sweeps)
    for (const std::int64_t intervals : {2, 3, 10, 100, 1000}) {
      const std::int64_t slots = slots_for(intervals, sweeps);
      CHECK(most_intervals(slots, sweeps) >= intervals);
      if (slots > 1) CHECK(most_intervals(slots - 1, sweeps) < intervals);
    }
  CHECK(first_checkpoints(1, 0).empty());
  CHECK(first_checkpoints(5, 4) == std::vector<std::int64_t>{0, 1, 2, 3});
}

}  // namespace
}  // namespace lagtape::recurrence
