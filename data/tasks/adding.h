#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// The adding problem (Hochreiter and Schmidhuber 1997). x: [T, 2]; input 0 is U(0, 1) at every step; input 1
/// is 1 at two steps, one in each half (the first half is floor(T / 2) steps long), and 0 elsewhere. The
/// target is the sum of the two marked values. Every training step draws fresh sequences unless `fresh` is
/// false. A model that always predicts 1 has an MSE of 1/6.
extern const TaskEntry kAddingTask;

}  // namespace lagtape
