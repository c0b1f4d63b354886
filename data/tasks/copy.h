#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The copy memory problem (Hochreiter and Schmidhuber 1997; Arjovsky, Shah and Bengio 2016): 10 random
/// letters out of 1..8, `blanks` times the blank 0, a marker 9, and 9 blanks, one-hot: x: [blanks + 20, 10].
/// The class at every step is 0, but over the last 10 steps the letters in their order. Fresh sequences for
/// every training step unless `fresh` is false. Without memory the best cross-entropy is
/// 10 ln 8 / (blanks + 20).
TaskLoader read_copy(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
