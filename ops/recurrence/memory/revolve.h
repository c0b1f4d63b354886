#pragma once

#include <cstdint>
#include <vector>

namespace lagtape::recurrence {

// When to keep checkpoints and where to restart: a backward walk over N intervals with room for a few
// checkpoints, by the binomial schedule of Griewank and Walther (Algorithm 799: revolve, 2000), which reruns
// the fewest intervals. Intervals are first run forward once, and the last of them is still available when the
// walk starts.

/// The most intervals that `slots` checkpoints (including the one at the start) can walk back over if no
/// checkpoint interval is rerun more than `sweeps` times; at most 2^40.
std::int64_t most_intervals(std::int64_t slots, std::int64_t sweeps);

/// The fewest slots and the fewest sweeps that suffice for the given number of intervals.
std::int64_t slots_for(std::int64_t intervals, std::int64_t sweeps);
std::int64_t sweeps_for(std::int64_t intervals, std::int64_t slots);

/// The number of intervals, out of n > 1, before the next checkpoint when `slots` > 0 more can be kept.
/// `first`: during the first forward run; otherwise the intervals before it are rerun to reach it.
std::int64_t cut(std::int64_t n, std::int64_t slots, bool first);

/// The intervals before which the first run keeps checkpoints, starting with 0.
std::vector<std::int64_t> first_checkpoints(std::int64_t intervals, std::int64_t slots);

/// The total number of intervals that are rerun.
std::int64_t runs_again(std::int64_t intervals, std::int64_t slots);

}  // namespace lagtape::recurrence
