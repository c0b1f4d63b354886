#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Images of CIFAR-10 as sequences of 1024 steps, pixels / 255 scaled by the usual mean and deviation of each
/// channel. "rgb": step n is red, green, blue of pixel n, row by row. "channels": the bytes [3, 32, 32] read
/// on as [1024, 3], so that a step is three neighbours in one channel. With `augment`, training sees each
/// image shifted by up to 4 pixels (black comes in) and mirrored or not, drawn anew for every epoch.
TaskLoader read_scifar(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
