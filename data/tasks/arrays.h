#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// A user's own sequences and targets, from an .npz file such as `lagtape data` writes: train_x and train_y,
/// and where there are any valid_x, valid_y, test_x, test_y. SPLIT_x is [N, T, input]. SPLIT_y is [N, output]
/// or [N] (one target per sequence) or [N, T, output] (one per step); with `classes`, [N] or [N, T] of whole
/// numbers below it. SPLIT_lengths, [N], gives the number of steps of each sequence; without it, all have T
/// steps.
extern const TaskEntry kArraysTask;

}  // namespace lagtape
