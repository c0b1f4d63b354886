#pragma once

#include <functional>

#include "lagtape/core/random.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// Draws sequence `index` of a set from that sequence's own stream, and writes it into a row of a batch that
/// is filled with padding. Several threads may call it at once.
using DrawSequence =
    std::function<void(std::int64_t index, RandomStream stream, Batch& batch, std::int64_t row)>;

/// The sizes of the sets of a task whose sequences are drawn when they are read.
struct DrawnSets {
  bool fresh = false;  ///< every training step draws new sequences, without end
  std::int64_t train = 1000, valid = 1000, test = 1000;
};

/// Reads the options train, valid and test.
void read_drawn_sets(JsonReader& reader, DrawnSets& sets);
/// Reads the options fresh, train (unless fresh), valid and test.
void read_fresh_sets(JsonReader& reader, DrawnSets& sets);

/// A task whose sequences all have shape.length steps.
TaskLoader drawn_task(const DataShape& shape, const DrawnSets& sets, DrawSequence draw);

}  // namespace lagtape
