#pragma once

#include <cstdint>
#include <vector>

namespace lagtape::recurrence {

// The times to keep checkpoints and the places to restart from: a walk back over N intervals with room for a
// few checkpoints, by the binomial schedule of Griewank and Walther (Algorithm 799: revolve, 2000), which
// runs the fewest intervals again. Intervals are first run forward once, and the last of them still exists when the
// walk begins.

/// The most intervals that `slots` checkpoints (the one at the beginning among them) can walk back over when
/// no checkpoint interval is run again more than `sweeps` times; at most 2^40.
std::int64_t most_intervals(std::int64_t slots, std::int64_t sweeps);

/// The fewest slots and the fewest sweeps that suffice for so many intervals.
std::int64_t slots_for(std::int64_t intervals, std::int64_t sweeps);
std::int64_t sweeps_for(std::int64_t intervals, std::int64_t slots);

/// The number of intervals, out of n > 1, before the next checkpoint when `slots` > 0 more can be kept.
/// `first`: during the first run forward; otherwise the intervals before it are run again to reach it.
std::int64_t cut(std::int64_t n, std::int64_t slots, bool first);

/// The intervals before which the first run keeps checkpoints, 0 the first.
std::vector<std::int64_t> first_checkpoints(std::int64_t intervals, std::int64_t slots);

/// The number of intervals that are run again in all.
std::int64_t runs_again(std::int64_t intervals, std::int64_t slots);

}  // namespace lagtape::recurrence
