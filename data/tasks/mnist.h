#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Digits as sequences of 784 pixels / 255, row by row or in a fixed permutation: element k is pixel p[k].
/// Reads the four published IDX files, plain or gzip, from the folder `path`. The 60000 training digits are
/// split at random, by the experiment's seed, into training and validation.
TaskLoader read_mnist(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
