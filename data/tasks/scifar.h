#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Images of CIFAR-10 as sequences of 1024 steps; pixels in 0..1 are scaled by the usual mean and standard
/// deviation of each channel. "rgb": step n is red, green and blue of pixel n, row by row. "channels": the
/// bytes [3, 32, 32] reshaped to [1024, 3], so that a step is three neighbours in one channel. With
/// `augment`, training sees each image shifted by up to 4 pixels (the border is black) and mirrored or not,
/// drawn anew for every epoch.
extern const TaskEntry kScifarTask;

}  // namespace lagtape
