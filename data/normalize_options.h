#pragma once

#include "lagtape/core/option_table.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// Whether a task scales a user's inputs and targets by the mean and standard deviation of the training
/// sequences.
struct NormalizeOptions {
  bool input = false, target = false;
  bool real_loss = true;  ///< as in TaskHints; with a loss of classes, scaled targets are an error
};

extern const OptionTable kNormalizeOptions;

}  // namespace lagtape
