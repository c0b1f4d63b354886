#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Two groups of human activities, from the motion sensors of a smartphone: 128 steps of 9 numbers (body
/// acceleration x, y, z, angular velocity x, y, z, total acceleration x, y, z), scaled by the mean and
/// standard deviation of the training windows. Class 1: sitting, laying, walking upstairs; class 0: standing,
/// walking, walking downstairs. The files are train/ and test/ of "UCI HAR Dataset", in the folder or archive
/// `path`. The experiment's seed splits the 7352 windows of train/ at random into training and validation.
extern const TaskEntry kHar2Task;

}  // namespace lagtape
