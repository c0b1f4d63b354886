#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A user's own series: from `window` steps of the input columns, the target columns `horizon` steps later,
/// at every step or after the last. Windows begin `stride` steps apart. One series is cut in time: its first
/// rows train, the next validate, the last test, and no window reaches over a cut; several series are dealt
/// out whole, in their order. With `normalize` inputs, with `normalize_target` (for mse alone) targets are
/// scaled by mean and standard deviation of the training rows.
TaskLoader read_series(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
