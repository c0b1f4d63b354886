#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A user's own sequences, ready as they are: an .npz file with train_x and train_y, and where there are any
/// valid_x, valid_y, test_x, test_y: what `lagtape data` writes. SPLIT_x is [N, T, input]; SPLIT_y is [N,
/// output] or [N] (one target a sequence) or [N, T, output]; with `classes`, [N] or [N, T] of whole numbers
/// below it. SPLIT_lengths, [N], tells how many of the T steps a sequence has; without it, all.
TaskLoader read_arrays(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
