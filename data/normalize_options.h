#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Whether a task scales numbers of a user's own by mean and standard deviation of its training sequences.
struct NormalizeOptions {
  bool input = false, target = false;
};

/// Reads "normalize" and "normalize_target". Notes an error in the reader for scaled targets under another
/// loss than mse.
NormalizeOptions read_normalize_options(JsonReader& reader, const TaskHints& hints,
                                        NormalizeOptions defaults);

}  // namespace lagtape
