#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// A problem of the UEA/UCR archives or of the Monash-UEA-UCR regression archive. The files are NAME_TRAIN.ts
/// and NAME_TEST.ts in the folder `path`, of one dimension or several, with sequences of equal or unequal
/// length. Classes are numbered in the order in which the files list them. With "split": "published", the
/// validation set is drawn at random from the first file; otherwise both files are joined, the first before
/// the second, and split anew.
extern const TaskEntry kTsTask;

}  // namespace lagtape
