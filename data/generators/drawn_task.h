#pragma once

#include <functional>

#include "lagtape/core/random.h"
#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Writes sequence `index` of a set into a row of a batch that holds padding, from that sequence's own
/// stream. Called by several threads at once.
using DrawSequence =
    std::function<void(std::int64_t index, RandomStream stream, Batch& batch, std::int64_t row)>;

/// The sets of a task whose sequences are drawn when they are read.
struct DrawnSets {
  bool fresh = false;  ///< new training sequences for every step, without end
  std::int64_t train = 1000, valid = 1000, test = 1000;
};

/// Reads train, valid and test.
void read_drawn_sets(JsonReader& reader, DrawnSets& sets);
/// Reads fresh, train (unless fresh), valid and test.
void read_fresh_sets(JsonReader& reader, DrawnSets& sets);

/// A task of sequences that are all as long as shape says.
TaskLoader drawn_plan(const DataShape& shape, const DrawnSets& sets, DrawSequence draw);

}  // namespace lagtape
