#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Whether a task scales a user's inputs and targets by the mean and standard deviation of the training
/// sequences.
struct NormalizeOptions {
  bool input = false, target = false;
};

/// Reads "normalize" and "normalize_target". Notes an error in the reader for scaled targets with a loss
/// other than mse.
NormalizeOptions read_normalize_options(JsonReader& reader, const TaskHints& hints,
                                        NormalizeOptions defaults);

}  // namespace lagtape
