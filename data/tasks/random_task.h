#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Standard normal inputs and targets (or classes of equal probability) of a given shape, for timing.
TaskLoader read_random_task(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
