#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Inputs and targets of a given shape for timing: N(0, 1), or tokens and classes, all equally likely.
extern const TaskEntry kRandomTask;

}  // namespace lagtape
