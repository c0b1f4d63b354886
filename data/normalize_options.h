#pragma once

#include "lagtape/core/option_table.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// Whether a task scales a user's inputs and targets by the mean and standard deviation of the training
/// sequences.
struct NormalizeOptions {
  bool input = false, target = false;
  bool real_loss = true;  ///< as in TaskHints; scaled targets are an error with a loss for classes
};

extern const OptionTable kNormalizeOptions;

}  // namespace lagtape
