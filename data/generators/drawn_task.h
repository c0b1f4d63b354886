#pragma once

#include <functional>

#include "lagtape/core/option_table.h"
#include "lagtape/core/random.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// Draws sequence `index` of a set from its own stream, and writes it into a row of a batch that is filled with
/// padding. Several threads may call it at once.
using DrawSequence =
    std::function<void(std::int64_t index, RandomStream stream, Batch& batch, std::int64_t row)>;

/// The set sizes of a task whose sequences are drawn when they are read.
struct DrawnSets {
  bool fresh = false;  ///< every training step draws new sequences, without end
  std::int64_t train = 1000, valid = 1000, test = 1000;
};

extern const OptionTable kDrawnSets;  ///< train, valid and test
extern const OptionTable kFreshSets;  ///< fresh, train (unless fresh), valid and test

/// A task whose sequences all have shape.length steps.
TaskLoader drawn_task(const DataShape& shape, const DrawnSets& sets, DrawSequence draw);

}  // namespace lagtape
