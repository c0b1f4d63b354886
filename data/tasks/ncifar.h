#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Noise-padded CIFAR-10: the 32 rows of an image, 96 numbers each (red, green and blue of the row, / 255),
/// then 968 steps of noise. "fixed": one block of N(0, 1) numbers for all sequences of all splits, drawn from
/// the experiment's seed; "uniform": one of U(0, 1); "per_sample": N(0, 1), another block for every sequence.
TaskLoader read_ncifar(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
