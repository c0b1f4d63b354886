#include "lagtape/ops/recurrence/revolve.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace lagtape::recurrence {
namespace {

/// The fewest segments run again, by trying every place for the next checkpoint.
std::int64_t fewest(std::int64_t n, std::int64_t free, bool first) {
  if (n == 1) return first ? 0 : 1;
  // Without a further checkpoint: to the last, and again from here for the rest.
  std::int64_t best = (first ? 0 : n) + fewest(n - 1, free, false);
  for (std::int64_t before = 1; free > 0 && before < n; ++before)
    best = std::min(best,
                    (first ? 0 : before) + fewest(n - before, free - 1, first) + fewest(before, free, false));
  return best;
}

/// Walks back as the slice runner does, and counts how often each segment is run again.
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

TEST_CASE("the schedule runs as few segments again as any") {
  for (std::int64_t slots = 1; slots <= 4; ++slots)
    for (std::int64_t segments = 1; segments <= 12; ++segments) {
      CAPTURE(slots);
      CAPTURE(segments);
      CHECK(runs_again(segments, slots) == fewest(segments, slots - 1, true));
    }
}

TEST_CASE("a walk back keeps to its slots, its sweeps and its count") {
  for (std::int64_t slots = 1; slots <= 7; ++slots)
    for (std::int64_t segments = 1; segments <= 150; segments += 1 + segments / 20) {
      CAPTURE(slots);
      CAPTURE(segments);
      Walk walk{std::vector<std::int64_t>(static_cast<std::size_t>(segments))};
      walk.back(0, segments, slots - 1, true);
      std::int64_t sum = 0;
      for (const std::int64_t runs : walk.runs) sum += runs;
      CHECK(walk.most_kept <= slots);
      CHECK(sum == runs_again(segments, slots));
      CHECK(*std::max_element(walk.runs.begin(), walk.runs.end()) == sweeps_for(segments, slots));
    }
}

TEST_CASE("slots and sweeps fit the number of segments exactly") {
  CHECK(most_segments(3, 1) == 4);  // the last segment needs no checkpoint
  CHECK(most_segments(3, 2) == 10);
  CHECK(most_segments(10, 3) == 286);
  for (std::int64_t sweeps = 1; sweeps <= 5; ++sweeps)
    for (const std::int64_t segments : {2, 3, 10, 100, 1000}) {
      const std::int64_t slots = slots_for(segments, sweeps);
      CHECK(most_segments(slots, sweeps) >= segments);
      if (slots > 1) CHECK(most_segments(slots - 1, sweeps) < segments);
    }
  CHECK(first_checkpoints(1, 0).empty());
  CHECK(first_checkpoints(5, 4) == std::vector<std::int64_t>{0, 1, 2, 3});
}

}  // namespace
}  // namespace lagtape::recurrence
