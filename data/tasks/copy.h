#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// The copy memory problem (Hochreiter and Schmidhuber 1997; Arjovsky, Shah and Bengio 2016). x: [blanks +
/// 20, 10], one-hot: 10 random symbols out of 1..8, `blanks` times the blank 0, a marker 9, and 9 blanks.
/// There is a class at every step: the ten symbols, in their order, at the last 10 steps and 0 before. Every
/// training step draws fresh sequences unless `fresh` is false. Without memory the best cross-entropy is 10
/// ln 8 / (blanks + 20).
extern const TaskEntry kCopyTask;

}  // namespace lagtape
