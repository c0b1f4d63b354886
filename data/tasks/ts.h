#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A problem of the UEA/UCR archives or of the Monash-UEA-UCR regression archive: reads NAME_TRAIN.ts and
/// NAME_TEST.ts from the folder `path`, one dimension or several, of equal or unequal length. Classes are
/// numbered as the files list them. With "split": "published", valid is drawn at random from the first file;
/// otherwise both are put together, train before test, and split anew.
TaskLoader read_ts_task(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
