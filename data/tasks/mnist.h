#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Handwritten digits as sequences of 784 pixels in 0..1, row by row or in a fixed permutation p: step k
/// shows pixel p[k]. The files are the four published IDX files, plain or gzip, in the folder `path`. The
/// experiment's seed splits the 60000 digits of the training files at random into training and validation.
extern const TaskEntry kMnistTask;

}  // namespace lagtape
