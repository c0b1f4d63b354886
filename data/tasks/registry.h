#pragma once

#include <span>

#include "lagtape/data/task.h"

namespace lagtape {

/// All tasks, in the order of their names.
std::span<const TaskEntry* const> tasks();

/// Reads the experiment's `data` object: "task" and the options of that task. Errors are noted in the reader,
/// which is finished; where there are any, the loader may have no `load`.
TaskLoader read_task(JsonReader& reader, const TaskHints& hints = {});

}  // namespace lagtape
