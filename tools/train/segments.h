#pragma once

#include <span>
#include <vector>

#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// A piece of a batch in time, for truncated BPTT.
struct Segment {
  std::vector<std::int64_t> rows;  ///< rows of the whole batch that have not ended, in order
  SequenceBatch batch;             ///< at most `steps` steps of these rows, from `first` on
};

/// Steps first .. first + steps - 1 of a batch, with their targets, or with each sequence's one target. Rows
/// that end before `first` are left out; if no row is left, the segment is empty.
Segment segment_of(const SequenceBatch& batch, std::int64_t first, std::int64_t steps);

/// The progress of training within a batch that is cut into segments.
struct SegmentProgress {
  std::int64_t steps = 0;          ///< number of the batch's steps that are done
  std::vector<std::int64_t> rows;  ///< the rows of the latest segment
  Window window;                   ///< their states after it
  double loss = 0,
         scored = 0;  ///< the losses of the scored steps, and their number, as far as they are finite
  std::int64_t made = 0, skipped = 0;  ///< numbers of updates
};

/// The fraction of a batch's steps that are done.
double share_of(const SegmentProgress& progress, const SequenceBatch& batch);

/// Whether training can be at this point within a batch of rows with these numbers of steps.
bool is_within(const SegmentProgress& progress, std::span<const std::int64_t> lengths);

/// The window of one segment's rows, for the next segment's rows (some of them, in order).
Window carry(const Window& window, std::span<const std::int64_t> from, std::span<const std::int64_t> to);

}  // namespace lagtape
