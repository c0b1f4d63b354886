#include "lagtape/ops/recurrence/memory/revolve.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lagtape::recurrence {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

/// The binomial coefficient n over k.
std::int64_t binomial(std::int64_t n, std::int64_t k) {
  k = std::min(k, n - k);
  std::int64_t value = k < 0 ? 0 : 1;
  for (std::int64_t i = 1; i <= k && value < kMost; ++i) value = value * (n - k + i) / i;
  return std::min(value, kMost);
}

/// The largest number of intervals after a checkpoint that can be walked back over with room for `slots` more
/// checkpoints if none is rerun more than `sweeps` times. `first`: the first run has just reached the last of
/// them; otherwise it is over, and they are rerun.
std::int64_t most(std::int64_t slots, std::int64_t sweeps, bool first) {
  if (slots < 0) return first ? 1 : 0;
  return binomial(slots + sweeps + (first ? 1 : 0), slots + 1);
}

std::int64_t fewest_sweeps(std::int64_t n, std::int64_t slots, bool first) {
  std::int64_t sweeps = 0;
  while (most(slots, sweeps, first) < n) ++sweeps;
  return sweeps;
}

}  // namespace

std::int64_t most_intervals(std::int64_t slots, std::int64_t sweeps) { return most(slots - 1, sweeps, true); }

std::int64_t slots_for(std::int64_t intervals, std::int64_t sweeps) {
  std::int64_t slots = 1;
  while (most_intervals(slots, sweeps) < intervals) ++slots;
  return slots;
}

std::int64_t sweeps_for(std::int64_t intervals, std::int64_t slots) {
  return fewest_sweeps(intervals, slots - 1, true);
}

std::int64_t cut(std::int64_t n, std::int64_t slots, bool first) {
  const std::int64_t sweeps = fewest_sweeps(n, slots, first);
  const std::int64_t before = most(slots, first ? sweeps : sweeps - 1, false);
  const std::int64_t after = sweeps > 0 ? most(slots - 1, sweeps - 1, first) : 0;
  return std::clamp<std::int64_t>(n - after, 1, std::min(before, n - 1));
}

std::vector<std::int64_t> first_checkpoints(std::int64_t intervals, std::int64_t slots) {
  std::vector<std::int64_t> kept;
  if (slots > 0) kept.push_back(0);
  while (std::ssize(kept) < slots && intervals - kept.back() > 1)
    kept.push_back(kept.back() + cut(intervals - kept.back(), slots - std::ssize(kept), true));
  return kept;
}

std::int64_t runs_again(std::int64_t intervals, std::int64_t slots) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  /// Intervals after a checkpoint, with `free` more checkpoints, and the runs to the next checkpoint and back
  /// from there.
  struct Part {
    std::int64_t n, free, runs;
  };
  // There may be as many checkpoints as steps, so recursion counts only what lies before the next one.
  const auto count = [&](auto&& self, std::int64_t n, std::int64_t free, bool first) -> std::int64_t {
    std::vector<Part> parts;
    const auto ends = [&] { return n == 1 || free == 0 || (!first && known.contains({n, free})); };
    for (; !ends(); --free) {
      const std::int64_t before = cut(n, free, first);
      parts.push_back({n, free, (first ? 0 : before) + self(self, before, free, false)});
      n -= before;
    }
    std::int64_t runs = n == 1      ? (first ? 0 : 1)
                        : free == 0 ? n * (n + 1) / 2 - (first ? n : 0)
                                    : known.at({n, free});
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      runs += part->runs;
      if (!first) known[{part->n, part->free}] = runs;
    }
    return runs;
  };
  return count(count, intervals, slots - 1, true);
}

}  // namespace lagtape::recurrence
