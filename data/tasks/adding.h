#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The adding problem (Hochreiter and Schmidhuber 1997): x: [T, 2]; input 0 is U[0, 1) at every step, input 1
/// is 1 at two steps, one in each half (the first has floor(T / 2) steps), and 0 elsewhere; the target is the
/// sum of the two marked values. Fresh sequences for every training step unless `fresh` is false. Predicting
/// 1 gives an MSE of 1/6.
TaskLoader read_adding(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
