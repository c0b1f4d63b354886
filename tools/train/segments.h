#pragma once

#include <span>
#include <vector>

#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// A stretch of a batch in time, for truncated BPTT.
struct Segment {
  std::vector<std::int64_t> rows;  ///< rows of the whole batch that are not over yet, in order
  SequenceBatch batch;             ///< at most `steps` steps of these rows, from `first` on
};

/// Steps first .. first + steps - 1 of a batch, with their targets, or with the one of each sequence. Rows
/// that end before `first` are left out; without any row the segment is empty.
Segment segment_of(const SequenceBatch& batch, std::int64_t first, std::int64_t steps);

/// The window of one segment's rows, as the next segment's rows (some of them, in order) take it over.
Window carry(const Window& window, std::span<const std::int64_t> from, std::span<const std::int64_t> to);

}  // namespace lagtape
